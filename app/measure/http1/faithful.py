"""JSON as a value, only where the value says all that the text said; else the text is the better fact."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NoReturn

DEPTH_LIMIT = 64
"""Nesting that is handed on as a value; the readers of our answers have limits too."""
_INTEGERS = range(-(2**63), 2**64)
"""What 64-bit readers take; Python would accept more and nobody after us."""
_SHORT_NUMBER = 16
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _Unfaithful(ValueError):
    """The value would not say what the text said."""


def value_of(text: str) -> tuple[Any] | None:
    """The JSON value in a tuple of one (it may be None itself), or None when the text must stand for itself.

    Refused: repeated keys, NaN and Infinity, numbers that a float or 64-bit integer does not hold, nesting
    deeper than the limit, and surrogates without their other half.
    """
    try:
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return (value,) if _is_shallow(value) else None


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        containers = [item for item in level if isinstance(item, (dict, list))]
        if not containers:
            return True
        level = [
            inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return not any(isinstance(item, (dict, list)) for item in level)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unfaithful("a key is repeated")
    return found


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 20 else 2**64
    if value not in _INTEGERS or text == "-0":
        raise _Unfaithful("an integer is out of range")
    return value


def _float(text: str) -> float:
    value = float(text)
    if len(text) <= _SHORT_NUMBER and "e" not in text.lower():
        return value  # fifteen digits always survive
    if Decimal(text) != Decimal(repr(value)):
        raise _Unfaithful("a number has more digits than a float")
    return value


def _constant(_: str) -> NoReturn:
    raise _Unfaithful("NaN and Infinity are no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
