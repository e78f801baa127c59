"""Claims as they are answered: what was said, by whom, on which evidence, how old each part is, how to look again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from app.recall.age import Moment, Witness
from app.recall.instant import stored_us
from app.recall.remeasure import remeasure_with
from app.records.codec import Record
from app.records.events import Asserted, Measured, Retracted

Detail = Literal["brief", "full"]
Answer = dict[str, Any]

SHORT_TEXT: Final = 256
"""Of what a measurement found, brief answers keep what is a number, a flag or as short as this."""
NOTE_TEXT: Final = 1024


class View(NamedTuple):
    """What an answer depends on beside the claim: when it is given, to whom, and from which age on `stale` is said."""

    now: Moment
    witness: Witness
    stale_seconds: float
    advertised: Callable[[str], str]
    detail: Detail


def claim(claim_id: str, at: str, event: Asserted, retraction: Record | None, view: View) -> Answer:
    """One claim with its own age; `at` is the stored time of its line."""
    evidence = [_evidence(item, claim_id, at, view) for item in event.evidence]
    own = aged(claim_id, at, view)
    measured = [item for item in evidence if item.get("type") == "observation"]
    oldest = max((item["age_seconds"] for item in measured), default=own["age_seconds"])
    optional = {"about": event.about, "source": event.source, "idempotency_key": event.idempotency_key}
    return {
        "claim_id": claim_id,
        "statement": event.statement,
        "evidence": evidence,
        "observed_by": event.observed_by,
        "tags": event.tags,
        **{name: value for name, value in optional.items() if value is not None},
        "asserted_at": shown(at),
        **own,
        "stale": oldest > view.stale_seconds,
        "retracted": retraction is not None,
        "retraction": _retraction(retraction, view),
        "remeasure_with": measured[0]["remeasure_with"] if measured else None,
    }


def taken_back(retraction_id: str, at: str, event: Retracted, view: View) -> Answer:
    """A retraction with its own age; `at` is the stored time of its line."""
    return {
        "retraction_id": retraction_id,
        "claim_id": event.claim_id,
        "reason": event.reason,
        "retracted_by": event.retracted_by,
        "retracted_at": shown(at),
        **aged(retraction_id, at, view),
    }


def embedded_observation(record: Record, event: Measured) -> Answer:
    """A stored measurement as evidence: all of it, for the claim is to stand by itself."""
    return {
        "type": "observation",
        "observation_id": record.id,
        "observed_at": event.observed_at,
        "tool": event.tool,
        "arguments": event.arguments,
        "ok": event.ok,
        "error": event.error,
        "data": event.data,
    }


def embedded_claim(record: Record, event: Asserted) -> Answer:
    """A stored claim as evidence: what it says; its own evidence is found under its id."""
    return {
        "type": "claim",
        "claim_id": record.id,
        "asserted_at": record.at,
        "statement": event.statement,
        "observed_by": event.observed_by,
        "tags": event.tags,
    }


def aged(record_id: str, at: str, view: View) -> Answer:
    """`age_seconds` and `age_basis` of what is from `at`."""
    return view.witness.age(record_id, stored_us(at), view.now)


def shown(at: str) -> str:
    """A stored time with the offset of the server's zone; one that is none is shown as it is."""
    try:
        instant = datetime.fromisoformat(at)
        return instant.astimezone().isoformat(timespec="milliseconds") if instant.tzinfo else at
    except (ValueError, OverflowError, OSError):
        return at


def _retraction(record: Record | None, view: View) -> Answer | None:
    if record is None or not isinstance(record.event, Retracted):
        return None
    return taken_back(record.id, record.at, record.event, view)


def _evidence(item: Mapping[str, Any], claim_id: str, at: str, view: View) -> Answer:
    kind = item.get("type")
    if kind == "observation":
        return _observation(item, view)
    if kind == "claim":
        time = str(item.get("asserted_at"))
        return {**item, "asserted_at": shown(time), **aged(str(item.get("claim_id")), time, view)}
    note = dict(item)
    if view.detail == "brief" and isinstance(note.get("text"), str):
        note["text"] = _cut(note["text"], NOTE_TEXT)
    return {**note, **aged(claim_id, at, view)}  # given with the claim, so as old as that


def _observation(item: Mapping[str, Any], view: View) -> Answer:
    tool, arguments = str(item.get("tool")), item.get("arguments")
    time = str(item.get("observed_at"))
    told: Answer = {
        "type": "observation",
        "observation_id": item.get("observation_id"),
        "observed_at": shown(time),
        **aged(str(item.get("observation_id")), time, view),
        "tool": view.advertised(tool),
        "ok": item.get("ok"),
        "error": item.get("error"),
        "data": item.get("data"),
        "remeasure_with": remeasure_with(
            tool, arguments if isinstance(arguments, Mapping) else {}, view.advertised
        ),
    }
    if view.detail == "full":
        return {**told, "arguments": arguments}
    return {**told, "data": _brief(item.get("data"))}


def _brief(data: Any) -> Any:
    """What can be read at a glance; bodies, heads and lists stay in the registry."""
    if not isinstance(data, Mapping):
        return data
    return {name: value for name, value in data.items() if name != "body" and _is_short(name, value)}


def _is_short(name: str, value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT_TEXT
    return name == "target" or isinstance(value, bool | int | float)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters; detail full has all)"
