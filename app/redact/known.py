"""Secrets of the call itself, found again wherever a target echoes them: raw, encoded, or cut by a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.redact.spans import Span

# Shorter texts occur by chance in innocent places; they are not looked for.
SHORTEST = 6

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_")


class Known:
    """The spellings of the literal secrets of one call, longest first."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings: dict[str, tuple[str, bool]] = {}
        for secret in secrets:
            if len(secret) >= SHORTEST:
                for spelling, in_base64 in _spellings(secret):
                    spellings.setdefault(spelling, (secret, in_base64))
        self._spellings = sorted(spellings.items(), key=lambda item: (-len(item[0]), item[0]))

    def find(self, text: str) -> Iterator[Span]:
        """Every place of every spelling, and where only its end begins the text or its beginning ends it."""
        for spelling, (secret, in_base64) in self._spellings:
            yield from _cut(text, spelling)
            start = text.find(spelling)
            while start >= 0:
                end = start + len(spelling)
                place = _widened(text, start, end) if in_base64 else (start, end)
                yield Span(*place, "known", secret)
                start = text.find(spelling, end)


def _spellings(secret: str) -> Iterator[tuple[str, bool]]:
    data = secret.encode("utf-8", "surrogatepass")
    for plain in (secret, data.decode("latin-1"), secret.replace(" ", "+"), data.hex(), data.hex().upper()):
        yield plain, False
    for inside in _base64_of(data):
        if len(inside) >= SHORTEST:
            yield inside, True
            yield inside.replace("+", "-").replace("/", "_"), True


def _base64_of(data: bytes) -> Iterator[str]:
    """The characters that depend on nothing but the secret, for each position it may have inside other data."""
    import base64

    for before in range(3):
        encoded = base64.b64encode(b"\x00" * before + data).decode("ascii")
        tainted = -(-before * 8 // 6)
        yield encoded[tainted : (before + len(data)) * 8 // 6]


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """The range with the characters at its borders that hold the last bits of the secret's first and last byte."""
    left, right = start, end
    while left > 0 and start - left < 2 and text[left - 1] in _BASE64:
        left -= 1
    while right < len(text) and right - end < 2 and text[right] in _BASE64:
        right += 1
    return left, right


def _cut(text: str, spelling: str) -> Iterator[Span]:
    """The longest end of the spelling that begins the text, and the longest beginning that ends it."""
    if len(text) < SHORTEST:
        return
    at = spelling.find(text[:SHORTEST], 1)
    while at > 0 and not text.startswith(spelling[at:]):
        at = spelling.find(text[:SHORTEST], at + 1)
    if at > 0:
        yield Span(0, len(spelling) - at, "known")
    at = spelling.rfind(text[-SHORTEST:], 0, len(spelling) - 1)
    while at >= 0 and not text.endswith(spelling[: at + SHORTEST]):
        at = spelling.rfind(text[-SHORTEST:], 0, at + SHORTEST - 1)
    if at >= 0:
        yield Span(len(text) - at - SHORTEST, len(text), "known")
