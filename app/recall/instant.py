"""Instants as text (RFC 3339, always with an offset) and as microseconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.errors import FactsError

_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)
_UNKNOWN: Final = "no such date and time in the years 1 to 9999 (UTC)"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class BadInstant(FactsError, ValueError):
    """The text is no instant; the message says why, for the caller."""


def microseconds(text: str) -> int:
    """Microseconds since 1970 of a date and time with an offset; what is finer is cut off.

    Raises `BadInstant` for a time without an offset (nobody knows which instant it is), for a date alone, and for
    what no calendar has; a leap second cannot be told from the second after it and is refused too.
    """
    if _INSTANT.fullmatch(text) is None:
        raise BadInstant("expected a date and time with an offset, such as 2026-03-01T10:00:00Z (RFC 3339)")
    if text[11:13] == "24":  # midnight by its other name, which some versions of Python know
        raise BadInstant(_UNKNOWN)
    try:
        instant = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadInstant(_UNKNOWN) from None
    return (instant - _EPOCH) // _MICROSECOND


def stored_us(text: Any) -> int:
    """The same of a time in a line that others may have written: an odd one counts as the oldest there is."""
    try:
        instant = datetime.fromisoformat(text)
        return (instant - _EPOCH) // _MICROSECOND  # as we write them; most are
    except (TypeError, ValueError):
        pass
    try:
        return microseconds(text) if isinstance(text, str) else 0
    except BadInstant:
        return 0
