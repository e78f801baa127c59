"""Lists and objects under a sensitive name in a text: every string and number in them, words of a schema aside."""

from __future__ import annotations

import re
from functools import cache

from app.redact.names import Name, is_ordinary, names_no_secret
from app.redact.spans import Span

_SCHEMA_TYPES = frozenset({"string", "object", "array", "integer", "number", "boolean", "null"})
_SCHEMA_WORDS = frozenset(
    {"type", "title", "description", "format", "minLength", "maxLength", "minimum", "maximum", "pattern"}
)


def is_of_a_schema(key: object, type_beside: object) -> bool:
    """Whether a key, beside a `type` of this value, belongs to a JSON schema and describes a secret only."""
    return key in _SCHEMA_WORDS and isinstance(type_beside, str) and type_beside in _SCHEMA_TYPES


def inside(quote: str) -> str:
    """The pattern of what stands between two such quotation marks."""
    # Unrolled: possessive groups with choices in them are broken before Python 3.11.5 (python/cpython#106052).
    return rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*"


@cache
def _element() -> re.Pattern[str]:
    double, single = inside('"'), inside("'")
    return re.compile(
        rf"(?:\"(?P<double>{double})(?:\"|\\?\Z)|'(?P<single>{single})(?:'|\\?\Z))(?P<key>\s{{0,8}}+:)?"
        r"|(?P<bracket>[\[\]{}])|(?P<bare>[^\s\[\]{},:\"']++)",
        re.DOTALL,
    )


class _Frame:
    """One open bracket: the secrets in it, those apart that are none if it turns out to be a schema."""

    def __init__(self) -> None:
        self.key = ""
        self.type: str | None = None
        self.leaves: list[tuple[str, Span]] = []

    def secrets(self) -> list[Span]:
        return [span for key, span in self.leaves if not is_of_a_schema(key, self.type)]


def container(text: str, start: int, name: Name) -> tuple[list[Span], int]:
    """Every secret inside the brackets that begin here, in order, and where they end; keys and `null` stay."""
    frames: list[_Frame] = []
    spans: list[Span] = []
    end = len(text)
    for element in _element().finditer(text, start):
        if not element["bracket"]:
            _take(frames[-1], element, name)
        elif element["bracket"] in "[{":
            frames.append(_Frame())
        else:
            spans += frames.pop().secrets()
            if not frames:
                end = element.end()
                break
    for frame in frames:  # what a limit cut
        spans += frame.secrets()
    return sorted(spans), end


def _take(frame: _Frame, element: re.Match[str], name: Name) -> None:
    group = "bare" if element["bare"] else "double" if element["double"] else "single"
    leaf = element[group] or ""
    if element["key"]:
        frame.key = leaf
        return
    if frame.key == "type":
        frame.type = leaf
    if _is_bare_leaf(leaf, name) if group == "bare" else not names_no_secret(leaf):
        frame.leaves.append((frame.key, Span(element.start(group), element.end(group), name.kind)))


def is_number(bare: str) -> bool:
    """Whether a bare value counts something, shares and fractions included."""
    return bare.lstrip("-").rstrip("%").replace(".", "").replace("/", "").isdecimal()


def _is_bare_leaf(bare: str, name: Name) -> bool:
    return not name.countable if is_number(bare) else not is_ordinary(bare)
