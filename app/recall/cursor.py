"""Where the next page begins, as an opaque text that serves the query it was made for and no other."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from app.errors import FactsError
from app.records.claims import Place

_NOT_BOUND: Final = frozenset({"cursor", "limit", "detail"})
"""What may change from page to page."""
_MARK_BYTES: Final = 6


class BadCursor(FactsError, ValueError):
    """The text is no cursor of this query."""


def write_cursor(place: Place, arguments: Mapping[str, Any]) -> str:
    """The cursor of the page that ended at `place`, for the query with these arguments."""
    return urlsafe_b64encode(_mark(arguments) + msgspec.json.encode(place)).decode("ascii").rstrip("=")


def read_cursor(text: str, arguments: Mapping[str, Any]) -> Place:
    """Where the page before ended; `BadCursor` for a cursor of another query, and for what is none."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        place = msgspec.json.decode(data[_MARK_BYTES:], type=Place)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise BadCursor("expected next_cursor of the page before") from None
    if data[:_MARK_BYTES] != _mark(arguments):
        raise BadCursor("it belongs to a query with other arguments")
    return place


def _mark(arguments: Mapping[str, Any]) -> bytes:
    bound = {name: value for name, value in sorted(arguments.items()) if name not in _NOT_BOUND}
    from hashlib import blake2b  # OpenSSL comes with it

    return blake2b(msgspec.json.encode(bound), digest_size=_MARK_BYTES).digest()
