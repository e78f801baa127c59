"""One open WebSocket: bytes in, messages into the record, answers of the protocol out.

The protocol is that of `websockets`, sans I/O; the bytes, their stamps and every wait are ours. Rules:
- A message bears the stamp of the read that completed it.
- Limits hold for what a frame announces, for what it inflates to, and for the sum of its fragments.
- 1005 and 1006 are never sent, and never told as if they had been received.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Literal, cast

from websockets.client import ClientProtocol
from websockets.exceptions import PayloadTooBig
from websockets.extensions import Extension
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.typing import ExtensionName

from app.clock import Clock
from app.errors import ProbeFailed
from app.measure.http1.hop import Hop
from app.measure.websocket.plan import Listening
from app.measure.websocket.record import Closing, Control, Message, Record
from app.net.stream import Stream

CLOSE_WAIT_S = 0.3
"""How long the answer to our close is waited for."""
_TURN_BYTES = 2048
"""Of a read, parsed before others may run: a thousand empty frames take about ten milliseconds."""
_NORMAL, _INVALID_DATA, _NO_CODE = 1000, 1007, 1005
_TEXT, _BINARY, _CONTINUATION = Opcode.TEXT, Opcode.BINARY, Opcode.CONT
_CLOSE, _PING = Opcode.CLOSE, Opcode.PING


class Listener:
    """Hears one stream; `record` is filled as messages are complete, so that whatever ends it leaves them."""

    def __init__(
        self, protocol: ClientProtocol, stream: Stream, record: Record, listening: Listening, clock: Clock
    ) -> None:
        self._protocol = protocol
        self._stream = stream
        self._record = record
        self._listening = listening
        self._clock = clock
        self._compression = _Compression()
        if protocol.extensions:
            protocol.extensions = [*protocol.extensions, self._compression]
        self._unread = b""
        self._payload = bytearray()
        self._frames = 0
        self._is_text = False
        self._is_compressed = False

    async def say(self, payloads: tuple[str | bytes, ...]) -> None:
        """Send the messages that were asked for."""
        for payload in payloads:
            if isinstance(payload, str):
                self._protocol.send_text(payload.encode())
            else:
                self._protocol.send_binary(payload)
            await self._flush()
            self._record.sent.append((self._clock.monotonic_ns(), payload))

    async def listen(self, rest: bytes) -> None:
        """Read until a limit is reached or the peer ends it; `ProbeFailed` says what went wrong."""
        if not self._listening.max_messages:
            self._record.stopped_by = "count"
        self._unread = rest
        while self._record.stopped_by is None:
            await asyncio.sleep(0)  # a peer that is faster than we are would never let the window end
            if not self._unread:
                self._unread = await self._receive()
            turn, self._unread = self._unread[:_TURN_BYTES], self._unread[_TURN_BYTES:]
            await self._hear(turn)

    async def leave(self, hop: Hop, rest: bytes = b"") -> None:
        """Close with 1000 unless the peer closed, and wait a moment for its answer; `rest` has come already."""
        hop.ended_in = "close"
        if self._protocol.state is not OPEN:
            return
        self._record.closing = Closing(_NORMAL, "", "local")
        self._protocol.send_close(_NORMAL)
        try:
            async with asyncio.timeout(CLOSE_WAIT_S) as wait:
                await self._flush()
                self._record.closing.clean = await self._hear_close(rest)
        except TimeoutError:
            if not wait.expired():
                raise
            message = f"no answer to our close within {CLOSE_WAIT_S:g} s"
            raise ProbeFailed("close", "timeout", message) from None

    async def _hear_close(self, rest: bytes) -> bool:
        """Whether the peer answers with a close frame; what else it still says is passed over."""
        self._unread = rest or self._unread
        while True:
            turn, self._unread = self._unread[:_TURN_BYTES], self._unread[_TURN_BYTES:]
            self._protocol.receive_data(turn)
            self._protocol.events_received()
            if self._protocol.close_rcvd is not None or self._protocol.parser_exc is not None:
                return self._protocol.parser_exc is None
            await asyncio.sleep(0)
            if self._unread:
                continue
            try:
                self._unread = await self._stream.receive()
            except ProbeFailed:
                return False
            if not self._unread:
                return False

    async def _receive(self) -> bytes:
        try:
            data = await self._stream.receive()
        except ProbeFailed:
            self._record.stopped_by = "peer"
            raise
        if not data:
            self._record.stopped_by = "peer"
            raise ProbeFailed("body", "truncated", "the connection was closed without a close frame")
        return data

    async def _hear(self, data: bytes) -> None:
        """Take the frames that these bytes complete, and answer what is to be answered."""
        protocol, at_ns = self._protocol, self._stream.received_ns
        protocol.receive_data(data)
        fault: ProbeFailed | None = None
        for frame in cast("list[Frame]", protocol.events_received()):  # an open protocol yields nothing else
            try:
                self._take(frame, at_ns)
            except UnicodeDecodeError:
                protocol.fail(_INVALID_DATA)
                self._record.closing = Closing(_INVALID_DATA, "", "local")
                fault = ProbeFailed("body", "protocol_error", "a text message is not UTF-8")
                break
        fault = fault or self._fault()
        closed = protocol.close_rcvd
        if closed is not None and fault is None:
            self._record.stopped_by = self._record.stopped_by or "peer"
            code = None if closed.code == _NO_CODE else int(closed.code)
            self._record.closing = Closing(code, closed.reason, "remote", clean=True)
        if fault is None and closed is None:
            await self._flush()
            return
        with suppress(ProbeFailed):  # a courtesy: the peer has closed, or is being left
            await self._flush()
        if fault is not None:
            raise fault

    def _fault(self) -> ProbeFailed | None:
        """What the protocol found wrong, and the close with which it was answered."""
        error, sent = self._protocol.parser_exc, self._protocol.close_sent
        if sent is not None and error is not None:
            self._record.closing = Closing(int(sent.code), sent.reason, "local")
        if isinstance(error, PayloadTooBig):
            allowed = self._listening.max_bytes
            observed = (error.size or 0) + (error.current_size or 0)
            message = f"a message is longer than max_bytes ({allowed})"
            return ProbeFailed(
                "body",
                "too_large",
                message,
                observed_bytes=max(observed, allowed + 1),
                allowed_bytes=allowed,
            )
        if error is not None:
            return ProbeFailed("body", "protocol_error", f"not the WebSocket protocol: {error}")
        return None

    def _take(self, frame: Frame, at_ns: int) -> None:
        # Compared by identity and the usual first: hashing a member of an Enum costs as much as all the rest.
        opcode = frame.opcode
        if opcode is _TEXT or opcode is _BINARY:
            self._is_text = opcode is _TEXT
            self._is_compressed = self._compression.next()
            self._frames = 1
            if frame.fin:
                self._complete(frame.data, at_ns)
            else:
                self._payload = bytearray(frame.data)
        elif opcode is _CONTINUATION:
            self._frames += 1
            self._payload += frame.data
            if frame.fin:
                self._complete(self._payload, at_ns)
                self._payload = bytearray()
        elif opcode is not _CLOSE:
            kind: Literal["ping", "pong"] = "ping" if opcode is _PING else "pong"
            self._record.note_control(Control(at_ns, kind, len(frame.data), "remote"))

    def _complete(self, data: bytes | bytearray | memoryview, at_ns: int) -> None:
        """Keep a whole message while there is room, count it in any case."""
        record = self._record
        record.seen += 1
        if record.stopped_by is not None:
            return
        size = len(data)
        room = self._listening.max_bytes - record.kept_bytes
        payload: str | bytes = str(data, "utf-8") if self._is_text else bytes(data)
        if size > room:
            payload = str(data[:room], "utf-8", "ignore") if self._is_text else bytes(data[:room])
        record.messages.append(Message(at_ns, payload, size, self._frames, self._is_compressed, size > room))
        record.kept_bytes += min(size, room)
        if len(record.messages) >= self._listening.max_messages:
            record.stopped_by = "count"
        elif size >= room:
            record.stopped_by = "bytes"

    async def _flush(self) -> None:
        data = b"".join(self._protocol.data_to_send())
        if data:
            await self._stream.send(data)


class _Compression(Extension):
    """Sees each frame before it is inflated: afterwards nobody knows whether its message came compressed."""

    name = ExtensionName("observer")

    def __init__(self) -> None:
        self._flags: deque[bool] = deque()

    def next(self) -> bool:
        """Whether the next message came compressed."""
        return self._flags.popleft() if self._flags else False

    def decode(self, frame: Frame, *, max_size: int | None = None) -> Frame:  # noqa: ARG002 - of the base class
        """Note the flag of a frame that begins a message."""
        if frame.opcode is _TEXT or frame.opcode is _BINARY:
            self._flags.append(frame.rsv1)
        return frame

    def encode(self, frame: Frame) -> Frame:
        """Frames of ours pass as they are."""
        return frame
