"""The end of a log: what the next line continues from, read backwards, however much rubbish stands behind it.

The work is that of the tail alone, never of the whole file, and memory is bounded: a line longer than
`MAX_LINE_BYTES` is passed over block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from app.records.codec import MAX_LINE_BYTES, Damaged, DamageReason, Place, place_of

BLOCK_BYTES: Final = 64 * 1024

ReadAt = Callable[[int, int], bytes]
"""`read_at(size, offset)`: exactly that many bytes."""


class Tail(NamedTuple):
    """What stands at the end of a log."""

    place: Place | None
    """Of the last line that carries one."""
    line_start: int
    """Where the last line without LF begins; the end itself when the last byte is an LF."""
    damage: tuple[int, int, DamageReason] | None
    """Offset, length and kind of what is damaged behind that line, as one range."""


class _Piece:
    """The line that is being put together from its end; beyond the limit only its existence is kept."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def put_before(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MAX_LINE_BYTES:
            self._parts.clear()
        else:
            self._parts.append(part)

    def take(self) -> bytes | None:
        """The whole line, or None when it is too long; the next piece begins empty."""
        line = None if self._size > MAX_LINE_BYTES else b"".join(reversed(self._parts))
        self._parts, self._size = [], 0
        return line


def read_tail(read_at: ReadAt, start: int, end: int) -> Tail:
    """The tail of the bytes `start` (a line's beginning) to `end` of a file."""
    line_start, damage_end = end, 0
    damage: tuple[int, int, DamageReason] | None = None
    following = end + 1
    for offset, line in lines_backwards(read_at, start, end):
        if following > end:
            line_start = offset
        place = Damaged("too_long") if line is None else place_of(line)
        if isinstance(place, Place):
            return Tail(place, line_start, damage)
        if isinstance(place, Damaged) and offset < end:
            damage_end = damage_end or following - 1
            last = unfinished(place.reason) if following > end else place.reason
            reason = damage[2] if damage else last
            damage = (offset, damage_end - offset, reason)
        following = offset
    return Tail(None, line_start, damage)


def unfinished(reason: DamageReason) -> DamageReason:
    """What damage without an LF behind it is: a write that was cut off, unless it never was a line."""
    return reason if reason in {"nul", "too_long"} else "torn"


def lines_backwards(read_at: ReadAt, start: int, end: int) -> Iterator[tuple[int, bytes | None]]:
    """The lines from the last to the first with their offsets; None stands for one that is too long.

    What follows the last LF comes first, also when it is empty.
    """
    piece = _Piece()
    position = end
    while position > start:
        size = min(BLOCK_BYTES, position - start)
        position -= size
        block = read_at(size, position)
        stop = size
        while (cut := block.rfind(b"\n", 0, stop)) >= 0:
            piece.put_before(block[cut + 1 : stop])
            yield position + cut + 1, piece.take()
            stop = cut
        piece.put_before(block[:stop])
    yield start, piece.take()
