"""The published schemas of recall: closed, described, and true of what is answered (`desk.call` checks each answer)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.tools.recall_answers import ASSERTED, EVIDENCE, HISTORY, QUERIED, RETRACTED

SCHEMAS = {"assert": ASSERTED, "retract": RETRACTED, "query": QUERIED, "history": HISTORY}
OPEN = {"arguments", "data", "error", "about", "event"}
"""What was received or is said in parts of its own: any object."""


def objects(schema: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of an object, with the name of its field."""
    if "object" in schema.get("type", ()):
        yield name, schema
    for field, part in schema.get("properties", {}).items():
        yield from objects(part, field)
    if "items" in schema:
        yield from objects(schema["items"], name)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_itself(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_only_what_was_received_is_open(name: str) -> None:
    closed = {field: part.get("additionalProperties") for field, part in objects(SCHEMAS[name], name)}

    assert {field for field, value in closed.items() if value is not False} <= OPEN


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_answer_says_of_which_project_it_is_and_when_it_was_given(name: str) -> None:
    assert {"project", "observed_at"} <= set(SCHEMAS[name]["required"])


@pytest.mark.parametrize(
    ("schema", "always"),
    [
        (ASSERTED, {"created", "claim_id", "statement", "evidence", "observed_by", "tags", "asserted_at"}),
        (ASSERTED, {"age_seconds", "age_basis", "stale", "retracted", "retraction", "remeasure_with"}),
        (QUERIED["properties"]["claims"]["items"], {"age_seconds", "age_basis", "stale", "remeasure_with"}),
        (RETRACTED, {"retraction_id", "claim_id", "reason", "retracted_by", "retracted_at", "age_seconds"}),
        (QUERIED, {"claims", "matched", "matched_is_exact", "next_cursor", "index"}),
        (HISTORY["properties"]["events"]["items"], {"position", "line_sha256", "line", "event", "age_basis"}),
        (EVIDENCE, {"type", "age_seconds", "age_basis"}),
    ],
)
def test_what_a_reader_relies_on_is_always_there(schema: dict[str, Any], always: set[str]) -> None:
    assert always <= set(schema["required"])


def test_only_what_may_not_have_been_said_is_optional() -> None:
    optional = {name: set(schema["properties"]) - set(schema["required"]) for name, schema in SCHEMAS.items()}

    assert optional == {
        "assert": {"about", "source", "idempotency_key"},
        "retract": set(),
        "query": set(),
        "history": set(),
    }


@pytest.mark.parametrize("age", [-0.001, "0", None])
def test_an_age_is_a_number_and_not_negative(age: Any) -> None:
    evidence = {"type": "note", "text": "seen", "age_basis": "wall_clock"}

    assert Draft202012Validator(EVIDENCE).is_valid(evidence | {"age_seconds": 0})
    assert not Draft202012Validator(EVIDENCE).is_valid(evidence | {"age_seconds": age})


@pytest.mark.parametrize("detail", ["brief", "full"])
@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"ok": False, "data": None, "error": {"code": "refused"}}, id="nothing was measured"),
        pytest.param(
            {"data": {"body": "x", "headers": [["a", "b"]], "deep": {"a": {}}}}, id="much was measured"
        ),
        pytest.param({"arguments": {"url": "[redacted:url:0123abcd]"}}, id="an argument was masked"),
        pytest.param({"tool": "facts.measure.later"}, id="a tool of a later version"),
    ],
)
def test_every_kind_of_evidence_is_answered_as_the_schema_says(
    desk: Any, detail: str, members: dict[str, Any]
) -> None:
    base = desk.call("assert", statement="base", observed_by="me", tags=["t"])["claim_id"]
    evidence = [
        {"type": "observation", "observation_id": desk.observe(**members)},
        {"type": "claim", "claim_id": base},
        {"type": "note", "text": "seen"},
    ]

    desk.call("assert", statement="all", observed_by="me", evidence=evidence, source="s", idempotency_key="k")
    claim = desk.call("query", detail=detail, text="all")["claims"][0]

    assert [item["type"] for item in claim["evidence"]] == ["observation", "claim", "note"]
