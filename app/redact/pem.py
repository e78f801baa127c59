"""PEM private keys: whole, without their end because they were cut, or without their beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.spans import Span

# A run of base64 this long with both cases in it, near half a key, is taken for another fragment of that key.
_FRAGMENT = 16

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="


@cache
def _marker() -> re.Pattern[str]:
    # RFC 7468 and RFC 4880; SSH2 writes four dashes and a space.
    return re.compile(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?(?: ?-{1,5})?")


@cache
def _lines() -> re.Pattern[str]:
    header = r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\r\n]*+"
    return re.compile(rf"[ \t]*+[A-Za-z0-9+/=]*+(?:[\r\n]++[ \t]*+(?:{header}|[A-Za-z0-9+/=]*+))*")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9+/=]{{{_FRAGMENT},}}+")


def private_keys(text: str) -> Iterator[Span]:
    """Every private key of a text, markers included; where only one marker is left, the base64 on its inner side."""
    markers = list(_marker().finditer(text)) if "PRIVATE KEY" in text else []
    edge = 0
    for index, marker in enumerate(markers):
        following = markers[index + 1] if index + 1 < len(markers) else None
        if marker[1] == "END":
            if edge >= 0:
                yield from _headless(text, edge, marker)
            edge = marker.end()
        elif following is not None and following[1] == "END":
            yield Span(marker.start(), following.end(), "private-key")
            edge = -1
        else:
            edge = following.start() if following is not None else len(text)
            yield from _endless(text, marker, edge)


def _endless(text: str, marker: re.Match[str], limit: int) -> Iterator[Span]:
    start = marker.end()
    body = _lines().match(text, start, limit)
    # A space after the marker is a sentence about it; lines of base64 are a key.
    if body and body[0].strip() and not body[0].startswith((" ", "\t")):
        start = body.end()
        yield Span(marker.start(), start, "private-key")
    yield from _fragments(text, start, limit)


def _headless(text: str, edge: int, marker: re.Match[str]) -> Iterator[Span]:
    start = marker.start()
    for line in reversed(text[edge:start].splitlines(keepends=True)):
        if line.strip().strip(_BASE64):
            break
        start -= len(line)
    if text[start : marker.start()].strip():
        yield Span(start, marker.end(), "private-key")
    yield from _fragments(text, edge, start)


def _fragments(text: str, start: int, end: int) -> Iterator[Span]:
    for run in _run().finditer(text, start, end):
        if is_fragment(run[0]):
            yield Span(run.start(), run.end(), "private-key")


def is_fragment(text: str) -> bool:
    """Whether a text can be nothing but a piece of a key: base64 in both cases, no word, no hexadecimal digest."""
    bare = "".join(text.replace("\\n", "").replace("\\r", "").split())
    return bool(_run().fullmatch(bare)) and bare != bare.lower() and bare != bare.upper()


def leaves_a_key_open(text: str) -> bool:
    """Whether a private key begins in this text and runs to its very end."""
    markers = list(_marker().finditer(text))
    if not markers or markers[-1][1] == "END":
        return False
    return not text[markers[-1].end() :].replace("\\n", "").replace("\\r", "").strip(_BASE64 + " \r\n")
