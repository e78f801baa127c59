"""Secrets of the call itself, found again wherever a target echoes them: raw, encoded, or cut by a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from app.redact.spans import Span

# Shorter texts occur by chance in innocent places; they are not looked for.
SHORTEST = 6

# One call has a handful of secrets; whoever sends thousands shall not make every text of the answer dear.
MOST = 256

# A few spellings are found soonest one by one; of many, only those whose beginning occurs in the text are tried.
_FEW = 32

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_")


class _Spelling(NamedTuple):
    secret: str
    in_base64: bool = False


class Known:
    """The literal secrets of one call, the 256 longest, prepared for search in any number of texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        usable = {secret for secret in secrets if len(secret) >= SHORTEST}
        self._secrets = sorted(usable, key=lambda secret: (-len(secret), secret))[:MOST]
        # Built when a text is first searched: many calls bring forth none.
        self._narrow: _Index | None = None
        self._wide: _Index | None = None

    def __contains__(self, text: object) -> bool:
        """Whether a text is one of the secrets as a whole."""
        return text in self._secrets

    def find(self, text: str) -> Iterator[Span]:
        """Every place of every spelling in any case; also where its end begins the text or its beginning ends it."""
        if not self._secrets:
            return
        self._narrow = self._narrow or _Index(self._secrets, _spellings)
        yield from self._narrow.find(text)

    def find_wide(self, text: str) -> Iterator[Span]:
        """Every place of every secret in UTF-16 of either order, in bytes that were read as latin-1."""
        if not self._secrets or "\x00" not in text:
            return
        self._wide = self._wide or _Index(self._secrets, _in_utf_16)
        places = list(self._wide.find(text))
        # Inside other UTF-16 of latin letters both orders fit, one byte apart; characters begin at even bytes.
        even = {span.start for span in places if span.start % 2 == 0}
        yield from (
            span for span in places if span.start % 2 == 0 or not {span.start - 1, span.start + 1} & even
        )


class _Index:
    """All spellings of some secrets, folded to lower case and longest first."""

    def __init__(self, secrets: Iterable[str], spell: Callable[[str], Iterator[tuple[str, bool]]]) -> None:
        spellings: dict[str, _Spelling] = {}
        for secret in secrets:
            for spelling, in_base64 in spell(secret):
                spellings.setdefault(_folded(spelling), _Spelling(secret, in_base64))
        order = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
        self._spellings: Mapping[str, _Spelling] = {spelling: spellings[spelling] for spelling in order}
        self._joined = "\n".join(order)
        self._heads = frozenset(spelling[:SHORTEST] for spelling in order)

    def find(self, text: str) -> Iterator[Span]:
        folded = _folded(text)
        yield from self._cuts(folded)
        for spelling in self._candidates(folded):
            secret, in_base64 = self._spellings[spelling]
            start = folded.find(spelling)
            while start >= 0:
                end = start + len(spelling)
                place = _widened(text, start, end) if in_base64 else (start, end)
                yield Span(*place, "known", secret)
                start = folded.find(spelling, end)

    def _candidates(self, text: str) -> Iterable[str]:
        if len(self._spellings) <= _FEW:
            return self._spellings
        heads = self._heads
        seen = {
            text[at : at + SHORTEST]
            for at in range(len(text) - SHORTEST + 1)
            if text[at : at + SHORTEST] in heads
        }
        return [spelling for spelling in self._spellings if spelling[:SHORTEST] in seen] if seen else ()

    def _cuts(self, text: str) -> Iterator[Span]:
        if len(text) < SHORTEST:
            return
        if text[:SHORTEST] in self._joined:
            for spelling in self._spellings:
                yield from _cut_front(text, spelling)
        if text[-SHORTEST:] in self._joined:
            for spelling in self._spellings:
                yield from _cut_back(text, spelling)


def _folded(text: str) -> str:
    """The text in lower case, character by character: two capitals change their length or look at their neighbours."""
    if "\u0130" in text or "\u03a3" in text:
        return "".join(one.lower() if one != "\u0130" else one for one in text)
    return text.lower()


def _spellings(secret: str) -> Iterator[tuple[str, bool]]:
    data = secret.encode("utf-8", "surrogatepass")
    for plain in (secret, data.decode("latin-1"), secret.replace(" ", "+"), data.hex()):
        yield plain, False
    for inside in _base64_of(data):
        if len(inside) >= SHORTEST:
            yield inside, True
            yield inside.replace("+", "-").replace("/", "_"), True


def _in_utf_16(secret: str) -> Iterator[tuple[str, bool]]:
    for order in ("utf-16-le", "utf-16-be"):
        yield secret.encode(order, "surrogatepass").decode("latin-1"), False


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


def _cut_front(text: str, spelling: str) -> Iterator[Span]:
    """The longest end of the spelling that begins the text."""
    at = spelling.find(text[:SHORTEST], 1)
    while at > 0 and not text.startswith(spelling[at:]):
        at = spelling.find(text[:SHORTEST], at + 1)
    if at > 0:
        yield Span(0, len(spelling) - at, "known")


def _cut_back(text: str, spelling: str) -> Iterator[Span]:
    """The longest beginning of the spelling that ends the text."""
    at = spelling.rfind(text[-SHORTEST:], 0, len(spelling) - 1)
    while at >= 0 and not text.endswith(spelling[: at + SHORTEST]):
        at = spelling.rfind(text[-SHORTEST:], 0, at + SHORTEST - 1)
    if at >= 0:
        yield Span(len(text) - at - SHORTEST, len(text), "known")
