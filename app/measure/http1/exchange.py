"""One request and its answer over a connected stream: the stop watch is told, nothing is sent twice.

The record is filled as bytes arrive, so that whatever ends the exchange leaves everything that was seen.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import Any

from app.errors import ProbeErrorCode, ProbeFailed
from app.measure.http1.framing import Framing, FramingError, framing_of
from app.measure.http1.head import END, Head, HeadError, parse_head
from app.measure.http1.headers import Request
from app.net.phases import Phases
from app.net.stream import Stream

HEAD_LIMIT = 65_536
"""Bytes of one response head, of all interim ones together, or of the trailers: what common servers accept at most,
doubled several times."""
INTERIM_LIMIT = 64
"""Interim answers (1xx) before the final one; real servers send one or two."""
_WORK_A_TURN = 256
_WORK_OF_A_READ = 16
"""In pieces of a body, a few milliseconds a turn: a peer that is faster than we are, or whose chunks are tiny, would
never let the loop run, and so no deadline would ever fire."""
_BODYLESS = frozenset({204, 205, 304})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that say where the answer is; 300 and 305 are for people and for nobody."""
_FOLLOWED_ROOM = 4096
_CODED_ROOM = 1_048_576


@dataclass(slots=True)
class Body:
    """The encoded body: its first `room` bytes, and length and hash of everything up to `limit`."""

    room: int
    limit: int
    received: int = 0
    copy: bytearray = field(default_factory=bytearray)
    digest: Any = None

    def add(self, data: bytes) -> bool:
        """Take the next bytes; False when the limit is passed, what lies beyond it is left out."""
        taken = data if len(data) <= self.limit - self.received else data[: self.limit - self.received]
        if taken:
            self.digest = self.digest or hashlib.sha256(usedforsecurity=False)
            self.digest.update(taken)
            self.received += len(taken)
            self.copy += taken[: self.room - len(self.copy)]
        return len(taken) == len(data)


@dataclass(slots=True)
class Answer:
    """What was seen of one answer; `head` is None until the final one is complete."""

    read_limit: int
    room: int
    follows: bool = False
    head: Head | None = None
    interim: int = 0
    body: Body | None = None
    complete: bool = False
    extra_bytes: int = 0

    @property
    def status(self) -> int | None:
        """The status of the final head."""
        return self.head.status if self.head else None

    @property
    def content_length(self) -> int | None:
        """The length that the head declares, whether or not it is that of the body."""
        return self.head.length if self.head else None

    def values(self, name: bytes) -> list[bytes]:
        """The values of a header, in wire order; `name` in lower case."""
        return self.head.by_name.get(name, []) if self.head else []

    def location(self) -> str | None:
        """Where a redirect points, None when this is no redirect; the first value when there are several."""
        found = self.values(b"location") if self.status in REDIRECTS else []
        return text_of(found[0])[0] if found else None

    def is_followed(self) -> bool:
        """Whether another hop will be tried: the body of this one is then of little interest."""
        return self.follows and self.location() is not None

    def copy_limit(self) -> int:
        """Bytes of decoded body that are wanted of this answer."""
        return min(self.room, _FOLLOWED_ROOM) if self.is_followed() else self.room

    def open_body(self) -> Body:
        """The body begins; an encoded one is copied further, so that small ones can be counted to their end."""
        is_coded = any(value.strip().lower() != b"identity" for value in self.values(b"content-encoding"))
        room = max(self.room, _CODED_ROOM) if is_coded and not self.is_followed() else self.copy_limit()
        self.body = Body(room, self.read_limit)
        return self.body


def text_of(value: bytes) -> tuple[str, bool]:
    """A header's value as text, and whether it had to be read as latin-1 since it is not UTF-8."""
    try:
        return value.decode(), False
    except UnicodeDecodeError:
        return value.decode("latin-1"), True


class Exchange:
    """One request and the reading of its answer; made before the watch starts, because making it takes time."""

    def __init__(self, request: Request, answer: Answer) -> None:
        import h11  # noqa: F401  # should chunks come, its import must not stand between head and body

        self.answer = answer
        self._wire = _wire(request)
        self._is_head = request.method == "HEAD"
        self._seen = bytearray()
        self._work = 0

    async def run(self, stream: Stream, phases: Phases) -> None:
        """Send the request once and read its answer; `ProbeFailed` says what cut it short."""
        self._stream, self._phases = stream, phases
        phases.begin("send")
        await stream.send(self._wire)
        phases.begin("first_byte")
        head = await self._read_head()
        if self._is_head or head.status in _BODYLESS or (head.length == 0 and not head.is_chunked):
            self._end(bytes(self._seen))
        elif head.fault is not None:
            raise self._failed("protocol_error", head.fault)
        else:
            await self._read_body(framing_of(head))

    async def _read_head(self) -> Head:
        """Read past interim answers (bounded, by number and together by size) to the head of the final one."""
        interim_bytes = 0
        while True:
            end = await self._find_end()
            head = self._parsed(bytes(self._seen[:end]))
            del self._seen[:end]
            if head.status == 101:
                raise self._failed("protocol_error", "the server switched protocols unasked (101)")
            if head.status >= 200:
                self.answer.head = head
                return head
            self._count_interim(interim_bytes := interim_bytes + end)
            await self._share(_WORK_A_TURN)

    def _count_interim(self, total_bytes: int) -> None:
        self.answer.interim += 1
        count = self.answer.interim
        if count > INTERIM_LIMIT:
            raise self._failed("protocol_error", "too many interim answers", informational=count)
        if total_bytes > HEAD_LIMIT:
            message = f"more than {HEAD_LIMIT} bytes of interim answers"
            raise self._failed("too_large", message, informational=count)

    async def _find_end(self) -> int:
        """Read until the blank line is there, and give the offset behind it."""
        searched = 0
        while True:
            # Two bytes back: the blank line may have come in pieces.
            found = END.search(self._seen, max(0, searched - 2))
            if found is not None and found.end() <= HEAD_LIMIT:
                return found.end()
            if len(self._seen) > HEAD_LIMIT:
                raise self._failed("too_large", f"more than {HEAD_LIMIT} bytes without the end of the head")
            searched = len(self._seen)
            await self._more_head()

    async def _more_head(self) -> None:
        data = await self._receive()
        if self._phases.current == "first_byte" and data:
            self._phases.begin("head", self._stream.received_ns)
        self._seen += data
        if not b"HTTP/".startswith(self._seen[:5]):
            raise self._failed("protocol_error", "the answer does not begin with HTTP/")
        if data:
            return
        seen = {"received_bytes": len(self._seen), "informational": self.answer.interim}
        if self._seen:
            raise self._failed("truncated", "the connection was closed inside the response head", **seen)
        raise self._failed("closed_without_answer", "the connection was closed without an answer", **seen)

    async def _read_body(self, framing: Framing) -> None:
        """Read to the end of the message, to the read limit, or to what cuts it short."""
        self._phases.begin("body", self._stream.received_ns)
        body = self.answer.open_body()
        data = bytes(self._seen)
        while True:
            if data:
                await self._feed(framing, body, data)
            data = b"" if framing.is_done else await self._more_body(framing)
            if not data:
                break
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
        self._phases.pause(self._stream.received_ns)
        self.answer.complete = True
        self.answer.extra_bytes = len(surplus) + len(self._stream.pending())

    async def _receive(self) -> bytes:
        await self._share(_WORK_OF_A_READ)
        return await self._stream.receive()

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
            raise self._failed("protocol_error", str(error)) from error

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
