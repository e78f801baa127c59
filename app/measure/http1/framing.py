"""Where a body ends: after a length, with the last chunk, or with the connection (RFC 9112, 6.3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from app.measure.http1.head import Field, Head

PART_LIMIT = 65_536
"""Bytes of a chunk's size line, or of the trailers."""


class FramingError(ValueError):
    """The chunks are none; the message never quotes them. `is_too_large` tells a part above the limit."""

    def __init__(self, message: str, *, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.is_too_large = is_too_large


class Framing(Protocol):
    """Bytes of the connection in, bytes of the body out."""

    @property
    def name(self) -> Literal["chunked", "length", "close"]:
        """How facts call it."""
        ...

    needs_end: bool
    """Whether the message has an end of its own, so that closing before it cuts it short."""
    is_done: bool
    surplus: bytes
    """What came behind the end of the message."""
    trailers: list[Field]
    """The fields behind the last chunk, once the message is done."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """The pieces of the body that these bytes hold, then `FramingError` where they are not what was announced.

        To be read to its end before more is fed.
        """
        ...


def framing_of(head: Head) -> Framing:
    """The framing that a head announces."""
    if head.is_chunked:
        return Chunked()
    return UntilClosed() if head.length is None else ByLength(head.length)


class ByLength:
    """A declared number of bytes."""

    name: Literal["length"] = "length"
    needs_end = True

    def __init__(self, length: int) -> None:
        self.is_done = length == 0
        self.surplus = b""
        self.trailers: list[Field] = []
        self._remaining = length

    def feed(self, data: bytes) -> Iterable[bytes]:
        """See `Framing`."""
        body = data[: self._remaining]
        self._remaining -= len(body)
        self.is_done = self._remaining == 0
        self.surplus += data[len(body) :]
        return (body,)


class UntilClosed:
    """Everything until the peer closes."""

    name: Literal["close"] = "close"
    needs_end = False
    is_done = False
    surplus = b""

    def __init__(self) -> None:
        self.trailers: list[Field] = []

    def feed(self, data: bytes) -> Iterable[bytes]:
        """See `Framing`."""
        return (data,)


class Chunked:
    """Chunks, read by h11 behind a head that says nothing but that chunks follow."""

    name: Literal["chunked"] = "chunked"
    needs_end = True

    def __init__(self) -> None:
        import h11  # loaded before the watch starts, see `Exchange`

        self.is_done = False
        self.surplus = b""
        self.trailers: list[Field] = []
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=PART_LIMIT)
        self._connection.receive_data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        self._connection.next_event()

    def feed(self, data: bytes) -> Iterable[bytes]:
        """See `Framing`."""
        import h11

        self._connection.receive_data(data)
        try:
            while not self.is_done and (event := self._connection.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Data):
                    yield event.data
                elif isinstance(event, h11.EndOfMessage):  # h11 has no other event to give here
                    self.is_done = True
                    self.trailers = list(event.headers.raw_items())
                    self.surplus = self._connection.trailing_data[0]
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == 431:
                raise FramingError("a chunk's head or trailers without an end", is_too_large=True) from error
            raise FramingError(str(error).partition(": b")[0]) from error
