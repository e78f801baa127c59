"""A log read forwards: every line decoded and with its position, damage served around and never hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.records.codec import BYTE_ORDER_MARK, MAX_LINE_BYTES, Damaged, decode
from app.store.log import Damage, Line
from app.store.tail import BLOCK_BYTES, ReadAt, unfinished


class _Raw(NamedTuple):
    offset: int
    length: int
    line: bytes | None
    """None when it is longer than `MAX_LINE_BYTES`."""
    ended: bool


def read_lines(read_at: ReadAt, position: int, end: int, file: str) -> Iterator[Line | Damage]:
    """Every line from `position` on that begins before `end`, and perhaps a few behind it.

    `read_at` may return fewer bytes than asked for; none means that the file ends there.
    """
    for raw in _split(read_at, position, end):
        offset, line = raw.offset, raw.line
        if line is None:
            yield Damage(file, offset, raw.length, "too_long")
            continue
        if offset == 0 and line.startswith(BYTE_ORDER_MARK):
            yield Damage(file, 0, len(BYTE_ORDER_MARK), "byte_order_mark")
            offset, line = len(BYTE_ORDER_MARK), line[len(BYTE_ORDER_MARK) :]
        found = decode(line)
        if isinstance(found, Damaged):
            yield Damage(file, offset, len(line), found.reason if raw.ended else unfinished(found.reason))
        else:
            yield Line(offset, found)


def _split(read_at: ReadAt, position: int, end: int) -> Iterator[_Raw]:
    parts: list[bytes] = []
    offset, length = position, 0
    while (length or offset < end) and (block := read_at(BLOCK_BYTES, offset + length)):
        begin = 0
        while (cut := block.find(b"\n", begin)) >= 0:
            parts.append(block[begin:cut])
            length += cut - begin
            yield _Raw(offset, length, _joined(parts, length), ended=True)
            parts, offset, length, begin = [], offset + length + 1, 0, cut + 1
        length += len(block) - begin
        if length > MAX_LINE_BYTES:
            parts.clear()
        else:
            parts.append(block[begin:])
    if length:
        yield _Raw(offset, length, _joined(parts, length), ended=False)


def _joined(parts: list[bytes], length: int) -> bytes | None:
    return None if length > MAX_LINE_BYTES else b"".join(parts)
