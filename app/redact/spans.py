"""Where secrets stand in a text, and how masks take their place.

Detectors only report spans of the text they were given; all spans of all detectors are united before anything is
replaced, so that no mask hides a delimiter from the next detector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "api-key",
    "jwt",
    "private-key",
    "userinfo",
    "parameter",
    "field",
    "token",
    "known",
]

# A private-use character stands for every character of an existing mask: it is no letter, no digit, no space and no
# delimiter of any detector, so a mask is a value to all of them and a secret to none.
OPAQUE = "\uf8ff"


class Span(NamedTuple):
    """The half-open range of a secret, what it is, and the plain secret where the range holds it encoded."""

    start: int
    end: int
    kind: Kind
    secret: str | None = None


Detector = Callable[[str], Iterable[Span]]


@cache
def mask_pattern() -> re.Pattern[str]:
    """What our own masks look like; only known kinds, so that nothing can be smuggled out as a kind."""
    kinds = "|".join(Kind.__args__)  # type: ignore[attr-defined]  # a Literal's members; typing.get_args costs the same
    return re.compile(rf"\[redacted:(?:{kinds}):[0-9a-f]{{8}}\]")


def hide_masks(text: str) -> str:
    """The text with every mask made opaque, of the same length."""
    if "[redacted:" not in text:
        return text
    return mask_pattern().sub(lambda found: OPAQUE * len(found[0]), text)


def united(spans: Iterable[Span]) -> list[Span]:
    """Disjoint spans in order; what overlaps becomes one, of the kind that reaches furthest from the first start.

    Of equal ranges the one that says more than that the secret was known gives its kind.
    """
    result: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end, one.kind == "known")):
        if not result or span.start >= result[-1].end:
            result.append(span)
        elif span.end > result[-1].end:
            result[-1] = Span(result[-1].start, span.end, result[-1].kind)
    return result


def outside_masks(spans: Iterable[Span], hidden: str) -> Iterator[Span]:
    """The parts of each span that are not opaque; a cut part without a letter or digit is only a delimiter."""
    for span in spans:
        inside = hidden[span.start : span.end]
        if OPAQUE not in inside:
            yield span
            continue
        if not inside.strip(OPAQUE):
            continue
        for part in re.finditer(f"[^{OPAQUE}]+", inside):
            if any(character.isalnum() for character in part[0]):
                yield Span(span.start + part.start(), span.start + part.end(), span.kind)


def replaced(text: str, spans: Iterable[Span], mask: Callable[[Span], str]) -> str:
    """The text with each of the disjoint, ordered spans replaced by its mask."""
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += text[position : span.start], mask(span)
        position = span.end
    return "".join([*pieces, text[position:]])
