"""One request and its answer over a connected stream: the stop watch is told, nothing is sent twice."""

from __future__ import annotations

import asyncio
from typing import Any

from app.errors import ProbeErrorCode, ProbeFailed
from app.measure.http1.answer import Answer, Body, Interim
from app.measure.http1.framing import Framing, FramingError, framing_of
from app.measure.http1.head import Head, HeadError, check_start, end_of_head, parse_head, partial_head
from app.measure.http1.headers import Request
from app.net.phases import Phases
from app.net.stream import Stream

HEAD_LIMIT = 65_536
"""Bytes of one response head, of all interim ones together, or of the trailers: what common servers accept at most,
doubled several times."""
INTERIM_LIMIT = 64
"""Interim answers (1xx) before the final one; real servers send one or two."""
EVIDENCE_BYTES = 64
"""Of an answer that is no HTTP, kept so that a reader can see what it is."""
_WORK_A_TURN = 256
_WORK_OF_A_READ = 16
"""In pieces of a body, a few milliseconds a turn: a peer that is faster than we are, or whose chunks are tiny, would
never let the loop run, and so no deadline would ever fire."""
_BODYLESS = frozenset({204, 205, 304})
_OVERLAP = 4
"""Bytes before the last search for the end of a head: the blank line may have come in pieces."""


class Exchange:
    """One request and the reading of its answer; made before the watch starts, because making it takes time."""

    def __init__(self, request: Request, answer: Answer) -> None:
        import h11  # noqa: F401  # should chunks come, its import must not stand between head and body

        self.answer = answer
        self._wire = _wire(request)
        self._is_head = request.method == "HEAD"
        self._upgrades = bool(request.upgrade)
        self._seen = bytearray()
        self._work = 0

    @property
    def rest(self) -> bytes:
        """After an upgrade: what arrived behind the head, in the protocol that was switched to."""
        return bytes(self._seen)

    async def run(self, stream: Stream, phases: Phases) -> None:
        """Send the request once and read its answer; `ProbeFailed` says what cut it short."""
        self._stream, self._phases = stream, phases
        try:
            await self._send()
            phases.begin("first_byte")
            head = await self._read_head()
        except BaseException:
            self._keep_early_head(is_early=phases.current == "send")
            raise
        if head.status == 101:
            self.answer.framing, self.answer.complete = "none", True
            phases.pause(stream.received_ns)
        elif self._is_head or head.status in _BODYLESS or (head.length == 0 and not head.is_chunked):
            self.answer.framing = "none"
            self._end(bytes(self._seen))
        elif head.fault is not None:
            raise self._failed("protocol_error", head.fault)
        else:
            await self._read_body(framing_of(head))

    async def _send(self) -> None:
        """Send the request; an answer that came before it was taken whole is looked at all the same."""
        self._phases.begin("send")
        try:
            await self._stream.send(self._wire)
        except BaseException:
            self._take_in(self._stream.pending())
            raise

    def _keep_early_head(self, *, is_early: bool) -> None:
        """Keep what there is of a head that was not read to its end; one that came while we sent may be whole."""
        if self.answer.head is not None or self.answer.partial is not None:
            return
        end = end_of_head(self._seen)
        block = bytes(self._seen if end < 0 else self._seen[:end])
        self.answer.keep_head(block)
        head = partial_head(block)
        if head is None or head.status < 200:
            return  # what an interim answer says is not what the answer says
        if is_early and end >= 0:
            self.answer.head = head
        else:
            self.answer.partial = head

    async def _read_head(self) -> Head:
        """Read past interim answers (bounded, by number and together by size) to the head of the final one."""
        interim_bytes = 0
        while True:
            end = await self._find_end()
            block = bytes(self._seen[:end])
            head = self._parsed(block)
            if head.status == 101 and not self._upgrades:
                self.answer.keep_head(block)
                self.answer.partial = head
                raise self._failed("protocol_error", "the server switched protocols unasked (101)")
            del self._seen[:end]
            if head.status >= 200 or head.status == 101:
                self.answer.keep_head(block)
                self.answer.head = head
                return head
            self._note_interim(head, interim_bytes := interim_bytes + end)
            await self._share(_WORK_A_TURN)

    def _note_interim(self, head: Head, total_bytes: int) -> None:
        interim = self.answer.interim
        if len(interim) == INTERIM_LIMIT:
            raise self._failed("protocol_error", "too many interim answers", informational=len(interim) + 1)
        interim.append(Interim(head, self._stream.received_ns))
        if total_bytes > HEAD_LIMIT:
            message = f"more than {HEAD_LIMIT} bytes of interim answers"
            raise self._failed("too_large", message, informational=len(interim))

    async def _find_end(self) -> int:
        """Read until the blank line is there, and give the offset behind it."""
        searched = 0
        is_checked = False
        while True:
            end = end_of_head(self._seen, max(0, searched - _OVERLAP))
            if 0 <= end <= HEAD_LIMIT:
                return end
            if not is_checked:
                is_checked = self._check_start()
            if len(self._seen) > HEAD_LIMIT:
                raise self._failed("too_large", f"more than {HEAD_LIMIT} bytes without the end of the head")
            searched = len(self._seen)
            await self._more_head()

    def _check_start(self) -> bool:
        """Refuse what can be no answer of HTTP/1 as soon as that is certain; true once the first line is whole."""
        try:
            check_start(bytes(self._seen[:HEAD_LIMIT]))
        except HeadError as error:
            raise self._no_http(str(error)) from error
        return b"\n" in self._seen.lstrip(b"\r\n")

    async def _more_head(self) -> None:
        data = await self._receive()
        if data:
            self._take_in(data)
            return
        seen = {"received_bytes": len(self._seen), "informational": len(self.answer.interim)}
        if self._seen:
            raise self._failed("truncated", "the connection was closed inside the response head", **seen)
        raise self._failed("closed_without_answer", "the connection was closed without an answer", **seen)

    def _take_in(self, data: bytes) -> None:
        if data and self._phases.current == "first_byte":
            self._phases.begin("head", self._stream.received_ns)
        self._seen += data

    async def _read_body(self, framing: Framing) -> None:
        """Read to the end of the message, to the read limit, or to what cuts it short."""
        self._phases.begin("body", self._stream.received_ns)
        self.answer.framing = framing.name
        body = self.answer.open_body()
        data = bytes(self._seen)
        while True:
            if data:
                await self._feed(framing, body, data)
            data = b"" if framing.is_done else await self._more_body(framing)
            if not data:
                break
        self.answer.trailers = framing.trailers
        self._end(framing.surplus)

    async def _more_body(self, framing: Framing) -> bytes:
        """The next bytes; none when the peer closed and its closing is the end of the message."""
        try:
            data = await self._receive()
        except ProbeFailed as failed:
            if failed.code == "reset" and framing.needs_end:
                raise self._cut_short("reset", failed.errno) from failed
            raise
        if not data and framing.needs_end:
            raise self._cut_short("closed", None)
        return data

    def _end(self, surplus: bytes) -> None:
        """The message is complete; what came after it is counted, never shown."""
        self.answer.ended_ns = self._stream.received_ns
        self._phases.pause(self.answer.ended_ns)
        self.answer.complete = True
        self.answer.extra_bytes = len(surplus) + len(self._stream.pending())

    async def _receive(self) -> bytes:
        await self._share(_WORK_OF_A_READ)
        data = await self._stream.receive()
        if data:
            self.answer.arrivals.add(self._stream.received_ns, len(data))
        return data

    async def _share(self, work: int) -> None:
        """Count work, and give the loop to others when it was enough."""
        self._work += work
        if self._work >= _WORK_A_TURN:
            self._work = 0
            await asyncio.sleep(0)

    def _parsed(self, block: bytes) -> Head:
        try:
            return parse_head(block)
        except HeadError as error:
            if error.is_too_large:
                raise self._failed("too_large", str(error)) from error
            raise self._no_http(str(error)) from error

    def _no_http(self, message: str) -> ProbeFailed:
        evidence = self._seen[:EVIDENCE_BYTES].decode("latin-1").encode("unicode_escape").decode("ascii")
        return self._failed("protocol_error", message, first_bytes=evidence)

    async def _feed(self, framing: Framing, body: Body, data: bytes) -> None:
        try:
            for piece in framing.feed(data):
                if not body.add(piece):
                    raise self._too_large(body)
                await self._share(1)
        except FramingError as error:
            code: ProbeErrorCode = "too_large" if error.is_too_large else "protocol_error"
            raise self._failed(code, str(error)) from error

    def _too_large(self, body: Body) -> ProbeFailed:
        message = f"the body is longer than read_limit_bytes ({body.limit})"
        return self._failed(
            "too_large", message, expected_bytes=self.answer.content_length, received_bytes=body.received
        )

    def _cut_short(self, how: str, errno: int | None) -> ProbeFailed:
        head, body = self.answer.head, self.answer.body
        return ProbeFailed(
            "body",
            "truncated",
            f"the connection was {how} inside the body",
            errno=errno,
            expected_bytes=None if head is None or head.is_chunked else head.length,
            received_bytes=body.received if body else 0,
        )

    def _failed(self, code: ProbeErrorCode, message: str, **facts: Any) -> ProbeFailed:
        return ProbeFailed(self._phases.current or "head", code, message, **facts)


def _wire(request: Request) -> bytes:
    """The bytes of a request; target and headers were checked when they became a `Request`."""
    lines = [
        f"{request.method} {request.target.path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in request.headers()),
    ]
    return "\r\n".join([*lines, "\r\n"]).encode() + (request.body or b"")
