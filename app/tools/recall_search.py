"""The arguments of a query become a search: everything is understood, or refused with the name of the argument."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from app.errors import FactsError, ToolError
from app.recall.age import Moment
from app.recall.cursor import BadCursor, read_cursor
from app.recall.instant import BadInstant, microseconds
from app.recall.projection import token
from app.recall.text import BadText, Tokenizer, parse_text
from app.records.claims import Place, Search
from app.redact import Redactor
from app.tools.recall_arguments import QueryArguments
from policy import TargetError, parse_host_port

_REFUSALS: Final = (BadText, BadInstant, TargetError)


def search_of(
    params: QueryArguments,
    redactor: Redactor,
    tokenizer: Tokenizer,
    now: Moment,
    stale_seconds: float,
    doubt_us: int,
) -> Search:
    """The search; `stale` asks for `doubt_us` more than the wall clock says, and its answer has to be looked at."""
    if params.order == "match" and params.text is None:
        raise _refused("order", "match orders by text, so it needs text")
    wanted, unwanted = _understood("text", parse_text, params.text, tokenizer) if params.text else ((), ())
    limit_us = now.wall_ns // 1000 - int(stale_seconds * 1e6)
    clean = redactor.text  # what was stored is masked in the same way
    return Search(
        wanted=wanted,
        unwanted=unwanted,
        all_of=(
            *(token("tag", clean(tag)) for tag in params.tags),
            *([token("observed_by", clean(params.observed_by))] if params.observed_by else []),
            *([token("target", _target(params.target))] if params.target else []),
        ),
        any_of=tuple(token("tag", clean(tag)) for tag in params.any_tags),
        asserted_from=_instant("asserted_after", params.asserted_after),
        asserted_until=_instant("asserted_before", params.asserted_before),
        basis_from=limit_us - doubt_us if params.stale is False else None,
        basis_until=limit_us + doubt_us if params.stale else None,
        retracted=params.retracted,
        order=params.order,
    )


def bound(params: QueryArguments, project: str) -> dict[str, Any]:
    """The arguments that a cursor belongs to, the project by its one name."""
    return {**msgspec.structs.asdict(params), "project": project}


def place_of(params: QueryArguments, project: str) -> Place | None:
    """Where the page before ended."""
    if params.cursor is None:
        return None
    try:
        return read_cursor(params.cursor, bound(params, project))
    except BadCursor as error:
        raise _refused("cursor", str(error)) from None


def _target(text: str) -> str:
    key: str = _understood("target", parse_host_port, text).key
    return key


def _instant(field: str, text: str | None) -> int | None:
    return None if text is None else _understood(field, microseconds, text)


def _understood(field: str, parse: Any, *arguments: Any) -> Any:
    try:
        return parse(*arguments)
    except _REFUSALS as error:
        raise _refused(field, str(error)) from None


def _refused(field: str, why: str) -> FactsError:
    return ToolError("invalid_arguments", f"{field}: {why}", field=field)
