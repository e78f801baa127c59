"""A log as the leaves of its tree: every piece between line feeds, byte for byte, damaged and blank ones too.

What stands behind the last line feed is no line yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

BLOCK_BYTES: Final = 1024 * 1024

ReadAt = Callable[[int, int], bytes]
"""`read_at(size, offset)`: at most that many bytes, none at the end."""


def raw_lines(read_at: ReadAt, position: int, end: int) -> Iterator[list[bytes]]:
    """The lines that begin at `position` and end before `end`, without their line feeds, many at a time.

    A line is held in memory as a whole, however long it is: a hash over a part of it would prove nothing.
    """
    rest = b""
    while position < end and (block := read_at(min(BLOCK_BYTES, end - position), position)):
        position += len(block)
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield lines
