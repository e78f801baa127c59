"""Bytes in pieces of any size become lines; a line beyond the limit becomes an excerpt, and the next line lives.

The verdict depends on the bytes alone, never on where they were cut. Memory is bounded by the limit.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from app.mcp.jsonrpc import RequestId

LINE_AT_MOST: Final = 4 * 1024 * 1024
HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 4 * 1024

# Unrolled: a possessive group with alternatives in it matches wrongly before Python 3.11.5 (python/cpython#106052).
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*"'
# Compiled when a line is too long for the first time: most servers never see one.
_TOKEN = rb"\s*(" + _STRING + rb"|[{}\[\]:,]|[^\s{}\[\]:,\"]+)"
# Clients that write the id last end every line with it. In JSON nothing but the id of the outer object can stand
# so: its value ends right before the last brace, and no string holds an unescaped quotation mark.
_LAST_ID = rb',\s*"id"\s*:\s*(-?[0-9]{1,64}|"[^"\\\x00-\x1f]*")\s*\}\s*\Z'


class Oversize(msgspec.Struct, frozen=True):
    """The head of a line that was too long, a line break, and its tail: enough to look for the id."""

    excerpt: bytes


class Lines:
    """Feed it what was read; it gives back the complete lines, without their ends. Blank lines are dropped."""

    def __init__(self, limit: int = LINE_AT_MOST) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head: bytes | None = None  # not None: inside a line that is too long

    def feed(self, piece: bytes) -> list[bytes | Oversize]:
        """The lines that are complete with this piece."""
        *ends, rest = piece.split(b"\n")
        found = [self._end(part) for part in ends]
        self._keep(rest)
        return [line for line in found if isinstance(line, Oversize) or line]

    def _end(self, part: bytes) -> bytes | Oversize:
        if self._head is None and not self._kept and len(part) <= self._limit:
            return _trimmed(part)
        self._keep(part)
        kept, head = bytes(self._kept), self._head
        self._kept.clear()
        self._head = None
        return _trimmed(kept) if head is None else Oversize(head + b"\n" + kept)

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if self._head is None and len(self._kept) > self._limit:
            self._head = bytes(self._kept[: min(HEAD_BYTES, self._limit)])
        if self._head is not None:
            del self._kept[:-TAIL_BYTES]


def fish_id(excerpt: bytes) -> RequestId | None:
    """The id of the request that an oversize line holds, if head or tail show it beyond doubt."""
    head, _, tail = excerpt.partition(b"\n")
    text = _id_in_head(head)
    if text is None:
        last = re.search(_LAST_ID, tail)
        text = last[1] if last else None
    return None if text is None else _decoded(text)


def _trimmed(line: bytes) -> bytes:
    # A NUL in front is the second half of a line end in UTF-16LE: that line was answered with a parse error, and
    # this one is not to be lost to it.
    return line.strip(b" \t\r").lstrip(b"\x00")


def _id_in_head(head: bytes) -> bytes | None:
    """The text after a top-level key `id`, provided that what ends it is visible too."""
    if not head.lstrip().startswith(b"{"):
        return None
    tokens = re.compile(_TOKEN)
    depth, position, key = 0, 0, b""
    before: list[bytes] = [b"", b""]
    while token := tokens.match(head, position):
        text, position = token[1], token.end()
        if depth == 1 and text in b",}" and key == b'"id"':
            return before[1]
        if depth == 1 and text == b":":
            key = before[1]
        depth += _DEPTH.get(text, 0)
        before = [before[1], text]
    return None


_DEPTH: Final = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def _decoded(text: bytes) -> RequestId | None:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return value if type(value) is int or type(value) is str else None
