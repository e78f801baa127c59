"""A text as it reads after decoding, with the way back to the characters it came from.

Percent-encoding, backslash escapes and character references are undone together, up to three times, so that one set
of detectors sees `api%5Fkey=`, `\\"token\\":` and `%3Ftoken%3D` as what they mean. The raw text is always one view.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

# Redirect parameters inside redirect parameters are encoded twice, logged JSON inside JSON three times.
_DEEPEST = 3

_NAMED = {"amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">"}
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(
        r"%(?P<percent>[0-9A-Fa-f]{2})"
        r"|\\(?:u(?P<unicode>[0-9A-Fa-f]{4})|x(?P<hex>[0-9A-Fa-f]{2})|(?P<short>[^\x00-\x1f]))"
        r"|&(?:(?P<named>amp|quot|apos|lt|gt)|\#(?P<decimal>[0-9]{1,5})|\#[xX](?P<reference>[0-9A-Fa-f]{1,4}));"
    )


def _meaning(found: re.Match[str]) -> str:
    body = found[found.lastgroup or 0]
    if found.lastgroup == "short":
        return _SHORT.get(body, body)
    if found.lastgroup == "named":
        return _NAMED[body]
    return chr(int(body, 10 if found.lastgroup == "decimal" else 16))


class View:
    """One reading of a text; `source(start, end)` gives the range of the original that reads so."""

    def __init__(self, text: str, parent: View | None = None) -> None:
        self.text = text
        self._parent = parent
        # The n-th escape became the character at _at[n]; it stood at _from[n] to _to[n] of the parent.
        self._at: list[int] = []
        self._from: list[int] = []
        self._to: list[int] = []

    def decoded(self) -> View | None:
        """The next reading, or None when nothing is escaped."""
        child = View("", self)
        pieces: list[str] = []
        position = length = 0
        for found in _escape().finditer(self.text):
            pieces += self.text[position : found.start()], _meaning(found)
            length += found.start() - position
            child._at.append(length)
            child._from.append(found.start())
            child._to.append(found.end())
            position = found.end()
            length += 1
        child.text = "".join([*pieces, self.text[position:]])
        return child if child._at else None

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Where the non-empty range [start, end) of this reading stands in the original text."""
        if self._parent is None:
            return start, end
        return self._parent.source(self._edge(start, self._from, 0), self._edge(end - 1, self._to, 1))

    def _edge(self, index: int, edges: list[int], after: int) -> int:
        near = bisect_right(self._at, index) - 1
        if near < 0:
            return index + after
        if self._at[near] == index:
            return edges[near]
        return self._to[near] + index - self._at[near] - 1 + after


def views(text: str) -> Iterator[View]:
    """The raw text, then each further decoding of it."""
    view: View | None = View(text)
    for _ in range(_DEEPEST + 1):
        if view is None:
            return
        yield view
        view = view.decoded()


def plain(text: str) -> str:
    """The last reading of a text: equal secrets in different encodings become equal here."""
    if not any(mark in text for mark in "%\\&"):
        return text
    *_, last = views(text)
    return last.text
