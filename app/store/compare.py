"""Two rows of leaves, the one that was signed and the one of the lines that stand there now, and how they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

WINDOW: Final = 2000
"""How far apart the rows are looked for to agree again."""
AGREEING: Final = 3
"""Leaves in a row that have to agree, or all that are left."""


class Difference(NamedTuple):
    """At line `at` (from 0) of those there are now, `missing` signed lines are not there and `extra` others are."""

    kind: Literal["altered", "reordered", "inserted", "removed", "truncated"]
    at: int
    missing: int
    extra: int


def differences(signed: Sequence[bytes], found: Sequence[bytes]) -> Iterator[Difference]:
    """Each place where the rows differ; what stands behind all signed lines is none."""
    left = right = 0
    while left < len(signed):
        if right < len(found) and signed[left] == found[right]:
            left, right = left + 1, right + 1
            continue
        missing, extra = _agreement(signed[left : left + WINDOW], found[right : right + WINDOW])
        if right + extra >= len(found) and missing > extra == 0:
            yield Difference("truncated", right, len(signed) - left, 0)
            return
        yield Difference(
            _kind(signed[left : left + missing], found[right : right + extra]), right, missing, extra
        )
        left, right = left + missing, right + extra


def _agreement(signed: Sequence[bytes], found: Sequence[bytes]) -> tuple[int, int]:
    """The fewest leaves to pass over on both sides until they agree; all of them where they never do."""
    places: dict[bytes, int] = {}
    for number, leaf in enumerate(signed):
        places.setdefault(leaf, number)
    best: tuple[int, int] | None = None
    for extra, leaf in enumerate(found):
        missing = places.get(leaf)
        if missing is None or (best is not None and missing + extra >= sum(best)):
            continue
        length = min(AGREEING, len(signed) - missing, len(found) - extra)
        if signed[missing : missing + length] == found[extra : extra + length]:
            best = (missing, extra)
    if best is not None:
        return best
    return len(signed), min(len(signed), len(found))


def _kind(
    signed: Sequence[bytes], found: Sequence[bytes]
) -> Literal["altered", "reordered", "inserted", "removed"]:
    if not signed:
        return "inserted"
    if not found:
        return "removed"
    return "reordered" if sorted(signed) == sorted(found) else "altered"
