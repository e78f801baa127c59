"""A line found by its id in the log itself: ids increase, so halving the bytes finds it without any index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from app.records.codec import BYTE_ORDER_MARK, MAX_LINE_BYTES, Damaged, Place, decode, place_of
from app.records.ulid import ulid_value
from app.store.segments import Segment, Segments

PROBE_BYTES: Final = 8 * 1024

_BLOCKS_KEPT: Final = 64


def locate(segments: Segments, record_id: str) -> tuple[int, bytes] | None:
    """The position and the bytes (without LF) of the line with this id; None where there is none.

    What is no line, and lines without an id, are passed over. Raises OSError.
    """
    wanted = ulid_value(record_id[2:]) if record_id[1:2] == "_" else None
    if wanted is None:
        return None
    blocks = _Blocks(segments)
    low, high = segments.segments[0].start, segments.end  # the line begins in [low, high), if it is there
    while low < high:
        middle = (low + high) // 2
        found = next(_lines(blocks, segments, middle, high), None)
        if found is None or found.ulid > wanted:
            high = middle
        elif found.ulid < wanted:
            low = found.position + len(found.line)
        else:
            record = decode(found.line)
            is_it = not isinstance(record, Damaged) and record.id == record_id
            return (found.position, found.line) if is_it else None
    return None


class _Found(NamedTuple):
    position: int
    line: bytes
    ulid: int


class _Blocks:
    """Reads a log in blocks and keeps the last ones, since halving comes back to the same place again and again."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._kept: dict[int, bytes] = {}

    def at(self, segment: Segment, position: int) -> bytes:
        """What stands from `position` to the end of its block; nothing where the file ends."""
        if position >= segment.start + segment.size:
            return b""
        begin = max(position - position % PROBE_BYTES, segment.start)
        block = self._kept.get(begin)
        if block is None:
            if len(self._kept) >= _BLOCKS_KEPT:
                self._kept.clear()
            block = self._kept[begin] = self._segments.read_at(PROBE_BYTES - begin % PROBE_BYTES, begin)
        return block[position - begin :]


def _lines(blocks: _Blocks, segments: Segments, begin: int, end: int) -> Iterator[_Found]:
    """The lines that begin in [begin, end) and carry an id; the piece that `begin` cuts is not one."""
    for segment in segments.segments:
        stop = min(end, segment.start + segment.size)
        position = segment.start
        if begin > position:
            position = _after_lf(blocks, segment, begin - 1) if begin < stop else stop
        while position < stop:
            line, following = _line(blocks, segment, position)
            if position == segment.start and line.startswith(BYTE_ORDER_MARK):
                position, line = position + len(BYTE_ORDER_MARK), line[len(BYTE_ORDER_MARK) :]
            place = place_of(line)
            if isinstance(place, Place):
                yield _Found(position, line, place.ulid)
            position = following


def _after_lf(blocks: _Blocks, segment: Segment, position: int) -> int:
    """Where the line behind the next LF at or after `position` begins; where the file ends if none follows."""
    while block := blocks.at(segment, position):
        cut = block.find(b"\n")
        if cut >= 0:
            return position + cut + 1
        position += len(block)
    return position


def _line(blocks: _Blocks, segment: Segment, begin: int) -> tuple[bytes, int]:
    """The line that begins here, empty when it is too long, and where the next one begins."""
    parts: list[bytes] = []
    position = begin
    while block := blocks.at(segment, position):
        cut = block.find(b"\n")
        parts.append(block if cut < 0 else block[:cut])
        position += len(parts[-1])
        if position - begin > MAX_LINE_BYTES:
            return b"", _after_lf(blocks, segment, position)
        if cut >= 0:
            return b"".join(parts), position + 1
    return b"".join(parts), position
