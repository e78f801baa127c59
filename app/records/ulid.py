"""ULIDs as numbers and as text: strictly increasing whatever the clock does (github.com/ulid/spec)."""

from __future__ import annotations

from typing import Final

from app.errors import FactsError

RANDOM_BITS: Final = 80
LAST: Final = (1 << 128) - 1
TEXT_LENGTH: Final = 26

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_LETTERS: Final = frozenset(_ALPHABET)
_DIGITS: Final = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # those of int(…, 32)


class UlidExhausted(FactsError):
    """No greater ULID exists: the clock or the greatest stored id is at the end of the range."""


def next_ulid(now_ms: int, floor: int | None, random80: int) -> int:
    """The ULID after `floor`: from the clock and 80 random bits when time went on, otherwise `floor` + 1.

    Counting up carries from the random bits into the millisecond, so an overflow of the randomness moves the
    id one millisecond ahead of the clock instead of repeating one. A time before 1970 counts as 1970.
    """
    milliseconds = max(now_ms, 0)
    if floor is None or milliseconds > floor >> RANDOM_BITS:
        value = (milliseconds << RANDOM_BITS) | random80
    else:
        value = floor + 1
    if value > LAST:
        raise UlidExhausted("no ULID is left: the clock or the greatest stored id is at the end of the range")
    return value


def ulid_text(value: int) -> str:
    """The 26 characters (Crockford's base 32) of a ULID; their order is the order of the numbers."""
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in range(120, -1, -10)])


def ulid_texts(first: int, count: int) -> list[str]:
    """The texts of `first` and the `count` - 1 that follow it, each one greater; `UlidExhausted` at the end."""
    if first + count - 1 > LAST:
        raise UlidExhausted("no ULID is left for all of these lines")
    texts: list[str] = []
    common = ""  # neighbours differ in their last two characters alone, most of the time
    for value in range(first, first + count):
        low = value & 1023
        if not common or low == 0:
            common = ulid_text(value)[:-2]
        texts.append(common + _PAIRS[low])
    return texts


def ulid_value(text: str) -> int | None:
    """The number behind 26 characters as `ulid_text` writes them, or None for any other text."""
    if len(text) != TEXT_LENGTH or text[0] > "7" or not _LETTERS.issuperset(text):
        return None
    return int(text.translate(_DIGITS), 32)
