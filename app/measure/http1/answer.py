"""What was seen of one answer, filled as its bytes arrive, so that whatever ends it leaves everything until then."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from app.measure.http1.head import Field, Head
from app.net.arrivals import Arrivals

RAW_LIMIT = 16_384
"""Bytes of a head that are kept as they came."""
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


@dataclass(frozen=True, slots=True)
class Interim:
    """An interim answer (1xx): when its head was complete, monotonic."""

    head: Head
    at_ns: int


@dataclass(slots=True)
class Answer:
    """One answer; `head` is None until the final one is complete, `partial` is what there is of it then."""

    read_limit: int
    room: int
    follows: bool = False
    head: Head | None = None
    partial: Head | None = None
    raw_head: bytes = b""
    raw_head_bytes: int = 0
    interim: list[Interim] = field(default_factory=list)
    framing: Literal["chunked", "length", "close", "none"] | None = None
    body: Body | None = None
    complete: bool = False
    ended_ns: int | None = None
    """When the last byte of the message had come, monotonic."""
    extra_bytes: int = 0
    trailers: list[Field] = field(default_factory=list)
    arrivals: Arrivals = field(default_factory=Arrivals)

    @property
    def status(self) -> int | None:
        """The status of the final head, once that is complete."""
        return self.head.status if self.head else None

    @property
    def content_length(self) -> int | None:
        """The length that the head declares, whether or not it is that of the body."""
        return self.head.length if self.head else None

    def keep_head(self, block: bytes | bytearray) -> None:
        """Keep the bytes of the final head, or what arrived of it."""
        self.raw_head = bytes(block[:RAW_LIMIT])
        self.raw_head_bytes = len(block)

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
