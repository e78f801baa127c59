"""What a claim cites, looked up and embedded, and everything that its caller wrote without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.errors import ToolError
from app.recall.answer import embedded_claim, embedded_observation
from app.records.codec import Record
from app.records.events import Asserted, Measured
from app.redact import Redactor
from app.tools.recall_arguments import AssertArguments, ClaimRef, Evidence, Note, ObservationRef

if TYPE_CHECKING:
    from app.store.registry import Registry


def asserted(registry: Registry, redactor: Redactor, project: str, params: AssertArguments) -> Asserted:
    """The event to store. `ToolError("not_found")` names the evidence that does not exist in this project."""
    evidence = [_embedded(registry, project, item, number) for number, item in enumerate(params.evidence)]
    texts = [params.statement, params.observed_by, params.source, params.idempotency_key, *params.tags]
    notes = [item["text"] for item in evidence if item["type"] == "note"]
    # In one walk, since a private key may be spread over several texts; a list has no keys that mean something.
    statement, observed_by, source, key, *rest = redactor.value([*texts, *notes])
    tags, clean = rest[: len(params.tags)], iter(rest[len(params.tags) :])
    return Asserted(
        statement=statement,
        evidence=[{**item, "text": next(clean)} if item["type"] == "note" else item for item in evidence],
        observed_by=observed_by,
        tags=tags,
        source=source,
        idempotency_key=key,
    )


def _embedded(registry: Registry, project: str, item: Evidence, number: int) -> dict[str, Any]:
    if isinstance(item, Note):
        return {"type": "note", "text": item.text}
    if isinstance(item, ObservationRef):
        found = registry.record(project, "observations", item.observation_id)
        if isinstance(found, Record) and isinstance(found.event, Measured):
            return embedded_observation(found, found.event)
        raise _missing(project, f"evidence[{number}].observation_id", "observation")
    return _cited(registry, project, item, number)


def _cited(registry: Registry, project: str, item: ClaimRef, number: int) -> dict[str, Any]:
    found = registry.record(project, "claims", item.claim_id)
    if isinstance(found, Record) and isinstance(found.event, Asserted):
        return embedded_claim(found, found.event)
    raise _missing(project, f"evidence[{number}].claim_id", "claim")


def _missing(project: str, field: str, what: str) -> ToolError:
    return ToolError("not_found", f"{field}: project {project} has no {what} with this id.", field=field)
