"""A search as an expression of FTS5: every text becomes a quoted string, so that none of it is syntax."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.records.claims import Search, Term

ALL: Final = "xall;"
"""The token that every row has, for searches that only say what must not be there."""
RETRACTED: Final = "xretracted;"
"""The token of a claim that was taken back; hashes of others have no such letters."""


def match(search: Search) -> str | None:
    """The expression for column `text` and column `f`; None where the search asks for neither."""
    if not (search.wanted or search.unwanted or search.all_of or search.any_of):
        return None
    retracted = [RETRACTED] if search.retracted == "only" else []
    wanted = [
        *(_filter(token) for token in (*search.all_of, *retracted)),
        *([_any(map(_filter, search.any_of))] if search.any_of else []),
        *(_term(term) for term in search.wanted),
    ]
    unwanted = [
        *([_filter(RETRACTED)] if search.retracted == "exclude" else []),
        *(_term(term) for term in search.unwanted),
    ]
    found = " AND ".join(wanted or [_filter(ALL)])
    return f"({found}) NOT {_any(unwanted)}" if unwanted else found


def _filter(token: str) -> str:
    return f"f : {_quoted(token)}"


def _term(term: Term) -> str:
    return f"text : {_quoted(term.text)}{' *' if term.is_prefix else ''}"


def _any(parts: Iterable[str]) -> str:
    return f"({' OR '.join(parts)})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
