"""The recall tools: what was concluded, with its evidence, for good. They open no socket and measure nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from app.clock import Clock, local_text
from app.errors import ToolError
from app.recall.age import Moment, Witness
from app.recall.answer import Detail, View, aged, claim, shown, taken_back
from app.recall.cursor import write_cursor
from app.recall.text import Tokenizer
from app.records.codec import Record, Unstorable, body, storable
from app.records.events import Asserted, Retracted
from app.redact import Redactor
from app.tools.aside import aside
from app.tools.project import project_of
from app.tools.recall_answers import ASSERTED, HISTORY, QUERIED, RETRACTED
from app.tools.recall_arguments import AssertArguments, HistoryArguments, QueryArguments, RetractArguments
from app.tools.recall_evidence import asserted
from app.tools.recall_guards import NotTwice, StillStands, be_ready, wait_for_index
from app.tools.recall_search import bound, place_of, search_of
from app.tools.tool import Context, Tool

if TYPE_CHECKING:
    from app.store.registry import Event, Found, Registry

CLAIMS: Final = "claims"
INLINE_CHARACTERS: Final = 1024
"""A longer text is searched for secrets beside the loop."""


@dataclass(frozen=True, slots=True)
class Archive:
    """What the recall tools work with; built at the first call."""

    registry: Registry
    clock: Clock
    redactor: Redactor
    witness: Witness
    stale_seconds: float
    tokenizer: Tokenizer
    advertised: Callable[[str], str]

    def now(self) -> Moment:
        """This instant, on both clocks."""
        return Moment(self.clock.wall_ns(), self.clock.boottime_ns())

    def view(self, now: Moment, detail: Detail, stale_seconds: float | None = None) -> View:
        """How claims are shown in one answer."""
        threshold = self.stale_seconds if stale_seconds is None else stale_seconds
        return View(now, self.witness, threshold, self.advertised, detail)


def recall_tools(archive: Callable[[], Archive]) -> tuple[Tool, ...]:
    """The four tools; the log behind them is append-only, so nothing they do destroys anything."""
    reads = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    writes = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    return (
        Tool(
            name="facts.recall.assert",
            title="Assert a claim",
            description=(
                "Stores one conclusion with its evidence, for good: durable when answered, never altered. "
                "Cite measurements by observation_id. What can be measured now, measure instead."
            ),
            params=AssertArguments,
            answer=ASSERTED,
            annotations=writes,
            run=partial(_assert, archive),
        ),
        Tool(
            name="facts.recall.retract",
            title="Take a claim back",
            description="Says that a claim does not hold and why. The claim stays readable; queries leave it out.",
            params=RetractArguments,
            answer=RETRACTED,
            annotations=writes,
            run=partial(_retract, archive),
        ),
        Tool(
            name="facts.recall.query",
            title="Find claims",
            description=(
                "Finds claims by text, tags, asserter, time or measured target, newest first. It answers from memory "
                "only: each claim has its age, and remeasure_with says how to look again."
            ),
            params=QueryArguments,
            answer=QUERIED,
            annotations=reads,
            run=partial(_query, archive),
        ),
        Tool(
            name="facts.recall.history",
            title="Everything about one claim",
            description="The stored lines about one claim in order, byte for byte, with their positions and hashes.",
            params=HistoryArguments,
            answer=HISTORY,
            annotations=reads,
            run=partial(_history, archive),
        ),
    )


async def _assert(
    archive: Callable[[], Archive], params: AssertArguments, _arguments: Mapping[str, Any], context: Context
) -> dict[str, Any]:
    project = project_of(params.project)
    params = msgspec.structs.replace(params, observed_by=context.caller or params.observed_by)
    kept = archive()
    if not params.evidence and len(params.statement) <= INLINE_CHARACTERS:
        event = asserted(kept.registry, kept.redactor, project, params)
    else:
        event = await aside(asserted, kept.registry, kept.redactor, project, params)
    line = _line(event)
    with kept.registry.using(project) as index:
        await wait_for_index(index)
    stored = await kept.registry.log.append(
        project, CLAIMS, "c", line, NotTwice(kept.registry, project, event, line)
    )
    now = kept.now()
    if stored.created:
        kept.witness.saw(stored.id, now)
    told = claim(stored.id, stored.at, event, None, kept.view(now, params.detail))
    return {**_answer(project, now), "created": stored.created, **told}


async def _retract(
    archive: Callable[[], Archive], params: RetractArguments, _arguments: Mapping[str, Any], context: Context
) -> dict[str, Any]:
    project = project_of(params.project)
    kept = archive()
    clean = kept.redactor.text
    by = context.caller or params.retracted_by
    event = Retracted(params.claim_id, clean(params.reason), None if by is None else clean(by))
    guard = StillStands(kept.registry, project, params.claim_id, lambda: kept.view(kept.now(), "full"))
    with kept.registry.using(project) as index:
        await wait_for_index(index)
    stored = await kept.registry.log.append(project, CLAIMS, "r", _line(event), guard)
    now = kept.now()
    kept.witness.saw(stored.id, now)
    return {**_answer(project, now), **taken_back(stored.id, stored.at, event, kept.view(now, "full"))}


async def _query(
    archive: Callable[[], Archive], params: QueryArguments, _arguments: Mapping[str, Any], _context: Context
) -> dict[str, Any]:
    return await aside(find, archive(), params)


def find(kept: Archive, params: QueryArguments) -> dict[str, Any]:
    """The answer of `facts.recall.query`."""
    project = project_of(params.project)
    now = kept.now()
    view = kept.view(now, params.detail, params.stale_after_seconds)
    doubt_us = 0 if params.stale is None else kept.witness.doubt_us(now)
    search = search_of(params, kept.redactor, kept.tokenizer, now, view.stale_seconds, doubt_us)
    found = kept.registry.search(project, search, place_of(params, project), params.limit)
    claims = [told for told in _claims(found, view) if params.stale in (None, told["stale"])]
    state = found.state
    return {
        **_answer(project, now),
        "claims": claims,
        "matched": found.matched,
        "matched_is_exact": found.is_exact and state.is_current and doubt_us < 1_000_000,
        "next_cursor": None if found.place is None else write_cursor(found.place, bound(params, project)),
        "index": {
            "state": "current" if state.is_current else "building",
            "position": state.position,
            "of": state.of,
        },
    }


def _claims(found: Found, view: View) -> list[dict[str, Any]]:
    return [
        claim(record.id, record.at, record.event, retraction, view)
        for record, retraction in found.claims
        if isinstance(record.event, Asserted)
    ]


async def _history(
    archive: Callable[[], Archive], params: HistoryArguments, _arguments: Mapping[str, Any], _context: Context
) -> dict[str, Any]:
    return await aside(tell, archive(), params)


def tell(kept: Archive, params: HistoryArguments) -> dict[str, Any]:
    """The answer of `facts.recall.history`."""
    project = project_of(params.project)
    with kept.registry.using(project) as index:
        be_ready(index)  # a part of what was written would look like all of it
    events = kept.registry.history(project, params.claim_id)
    if not events:
        raise ToolError("not_found", f"Project {project} has no claim with this id.", field="claim_id")
    now = kept.now()
    view = kept.view(now, "full")
    return {
        **_answer(project, now),
        "claim_id": params.claim_id,
        "events": [_event(event, view) for event in events],
    }


def _event(event: Event, view: View) -> dict[str, Any]:
    from hashlib import sha256  # OpenSSL comes with it

    record = event.record
    age: dict[str, Any] = {"recorded_at": None, "age_seconds": None, "age_basis": None}
    if isinstance(record, Record):
        age = {"recorded_at": shown(record.at), **aged(record.id, record.at, view)}
    return {
        "position": event.position,
        "line_sha256": sha256(record.raw).hexdigest(),
        "line": record.raw.decode(),
        "event": msgspec.json.decode(record.raw),
        **age,
    }


def _answer(project: str, now: Moment) -> dict[str, Any]:
    return {"project": project, "observed_at": local_text(now.wall_ns)}


def _line(event: Asserted | Retracted) -> bytes:
    """The event as it is stored; one that fits into no line is the caller's to shorten."""
    try:
        line = body(event)
        storable(line)
    except Unstorable as error:
        raise ToolError("invalid_arguments", f"evidence: {error}", field="evidence") from error
    return line
