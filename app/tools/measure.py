"""The measuring tools, one a kind: probe, redact, write, answer; the only meeting point of the four."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import msgspec

from app.clock import Clock, local_text
from app.errors import StoreError
from app.measure.kind import Bench, Kind, Limits, Outcome
from app.recall.age import Moment, Witness
from app.records.codec import Unstorable, body
from app.records.events import Measured
from app.redact import Redactor
from app.store.log import Log, Stored
from app.tools.aside import aside
from app.tools.observation import bulk_of, redacted
from app.tools.project import project_of
from app.tools.tool import Context, Schema, Tool, inline

T = TypeVar("T")
OBSERVATIONS: Final = "observations"
INLINE_CHARACTERS: Final = 8192


class Gate(Protocol):
    """The part of the dialer that this module uses: room for one measurement until its deadline."""

    def slot(self, deadline_ns: int) -> Any: ...


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What measurements are taken and kept with; built at the first call, because it is heavy."""

    dialer: Any
    clock: Clock
    redactor: Redactor
    log: Log
    limits: Limits
    witness: Witness = field(default_factory=Witness)


def measuring_tools(
    kinds: tuple[Kind, ...], laboratory: Callable[[], Laboratory], policy_sentence: str
) -> tuple[Tool, ...]:
    """One tool for each kind, named `facts.measure.<kind>`."""
    return tuple(
        Tool(
            name=f"facts.measure.{kind.name}",
            title=kind.title,
            description=f"{kind.description} {policy_sentence}",
            params=kind.params,
            answer=_answer_schema(kind),
            annotations={"readOnlyHint": kind.read_only, "destructiveHint": False, "openWorldHint": True},
            run=partial(_measure, kind, laboratory),
        )
        for kind in kinds
    )


async def _measure(
    kind: Kind,
    laboratory: Callable[[], Laboratory],
    params: Any,
    arguments: Mapping[str, Any],
    context: Context,
) -> dict[str, Any]:
    project = project_of(params.project)
    lab = laboratory()
    deadline_ns = lab.clock.monotonic_ns() + params.timeout_ms * 1_000_000
    bench = Bench(lab.dialer, lab.clock, deadline_ns, lab.limits, context.progress)
    plan = kind.plan(params, bench)
    async with lab.dialer.slot(deadline_ns):
        start = Moment(lab.clock.wall_ns(), lab.clock.boottime_ns())
        outcome = await kind.probe(plan, bench)
    event = await _kept_on(_redacted(lab, f"facts.measure.{kind.name}", arguments, outcome, start.wall_ns))
    stored = await _kept_on(_append(lab.log, project, event))
    if isinstance(stored, Stored):
        lab.witness.saw(stored.id, start)
    return _answer(lab.clock, project, kind, params.detail, event, start, stored)


async def _redacted(
    lab: Laboratory, tool: str, arguments: Mapping[str, Any], outcome: Outcome, wall_ns: int
) -> Measured:
    """The event without secrets; a large one is searched beside the loop, since that can take seconds."""
    if bulk_of(outcome.data) + len(str(arguments)) <= INLINE_CHARACTERS:
        return redacted(lab.redactor, tool, arguments, outcome, wall_ns)
    return await aside(redacted, lab.redactor, tool, arguments, outcome, wall_ns)


async def _kept_on(work: Awaitable[T]) -> T:
    """The result, also when the call is cancelled meanwhile: what was measured is kept, so that it can be cited.

    A second cancellation is meant: the process ends, and waits for nothing.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        await asyncio.wait([task])
    return task.result()


async def _append(log: Log, project: str, event: Measured) -> Stored | StoreError:
    """The acknowledgement, or why there is none: measuring goes on without a log, and says so."""
    try:
        return await log.append(project, OBSERVATIONS, "o", body(event))
    except StoreError as error:
        return error
    except Unstorable as error:
        return StoreError("too_large", str(error))


def _answer(
    clock: Clock,
    project: str,
    kind: Kind,
    detail: str,
    event: Measured,
    start: Moment,
    stored: Stored | StoreError,
) -> dict[str, Any]:
    age = max(0, clock.boottime_ns() - start.boot_ns)
    kept = isinstance(stored, Stored)
    answer = {
        "project": project,
        "observation_id": stored.id if isinstance(stored, Stored) else None,
        "observed_at": local_text(start.wall_ns),
        "age_seconds": round(age / 1e9, 3),
        "age_basis": "monotonic",
        "ok": event.ok,
        "error": event.error,
        "data": event.data if detail == "full" else kind.brief(event.data or {}),
        "stored": kept,
    }
    if isinstance(stored, StoreError):
        answer["not_stored"] = {
            "code": "storage_failed",
            "reason": stored.reason,
            "message": stored.message,
        }
    return answer


def _answer_schema(kind: Kind) -> Schema:
    facts = inline(msgspec.json.schema(kind.facts))
    nested = facts.pop("$defs", {})
    properties = {**_COMMON, "data": {**facts, "description": f"The facts of kind {kind.name}."}}
    schema = {
        "type": "object",
        "description": "One observation: what was measured, when, and whether it could be taken.",
        "properties": properties,
        "required": [name for name in properties if name != "not_stored"],
        "additionalProperties": False,
    }
    return {**schema, "$defs": nested} if nested else schema


_COMMON: Schema = {
    "project": {"type": "string", "description": "The project, normalised."},
    "observation_id": {"type": ["string", "null"], "description": "o_ and a ULID; null if not stored."},
    "observed_at": {"type": "string", "description": "Start of the measurement, RFC 3339 with offset."},
    "age_seconds": {"type": "number", "minimum": 0, "description": "Time since then, never negative."},
    "age_basis": {"enum": ["monotonic", "wall_clock"], "description": "The clock behind age_seconds."},
    "ok": {"type": "boolean", "description": "Whether the observation could be taken; nothing else."},
    "error": {
        "type": ["object", "null"],
        "description": "What ended the measurement early: code, phase, message, at_ms.",
    },
    "stored": {"type": "boolean", "description": "Whether the observation is durable in the log."},
    "not_stored": {"type": "object", "description": "Why it is not: code, reason, message."},
}
