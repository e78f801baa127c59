"""The arguments of recall: what is understood, what is refused under which name, and that both are published."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from app.errors import ToolError
from app.tools.recall_arguments import (
    AssertArguments,
    ClaimRef,
    HistoryArguments,
    Note,
    ObservationRef,
    QueryArguments,
    RetractArguments,
)
from app.tools.tool import inline, validate

LEAST: dict[type[msgspec.Struct], dict[str, Any]] = {
    AssertArguments: {"project": "p", "statement": "a", "observed_by": "me"},
    RetractArguments: {"project": "p", "claim_id": "c", "reason": "wrong"},
    QueryArguments: {"project": "p"},
    HistoryArguments: {"project": "p", "claim_id": "c"},
}
NOTE = {"type": "note", "text": "seen"}


def is_published(params: type[msgspec.Struct], arguments: dict[str, Any]) -> bool:
    valid: bool = Draft202012Validator(inline(msgspec.json.schema(params))).is_valid(arguments)
    return valid


@pytest.mark.parametrize("params", LEAST, ids=lambda params: params.__name__)
def test_what_is_required_is_enough_and_each_of_it_is_needed(params: type[msgspec.Struct]) -> None:
    least = LEAST[params]
    assert msgspec.to_builtins(validate(params, least)).items() >= least.items()

    for name in least:
        with pytest.raises(ToolError) as refused:
            validate(params, {key: value for key, value in least.items() if key != name})
        assert refused.value.field == name


def test_the_defaults_are_these() -> None:
    assert msgspec.to_builtins(validate(AssertArguments, LEAST[AssertArguments])) == {
        **LEAST[AssertArguments],
        "evidence": [],
        "tags": [],
        "source": None,
        "idempotency_key": None,
        "detail": "full",
    }
    assert msgspec.to_builtins(validate(QueryArguments, LEAST[QueryArguments])) == {
        "project": "p",
        **dict.fromkeys(("text", "observed_by", "target", "asserted_after", "asserted_before")),
        **dict.fromkeys(("stale", "stale_after_seconds", "cursor")),
        "tags": [],
        "any_tags": [],
        "retracted": "exclude",
        "order": "newest",
        "limit": 20,
        "detail": "brief",
    }


@pytest.mark.parametrize(
    ("params", "given"),
    [
        (AssertArguments, {"statement": "x" * 8192}),
        (AssertArguments, {"observed_by": "x" * 256}),
        (AssertArguments, {"source": "x" * 256}),
        (AssertArguments, {"source": None}),
        (AssertArguments, {"idempotency_key": "x" * 256}),
        (AssertArguments, {"tags": ["x" * 128] * 32}),
        (AssertArguments, {"evidence": [NOTE] * 20}),
        (AssertArguments, {"detail": "brief"}),
        (RetractArguments, {"reason": "x" * 8192, "retracted_by": "x" * 256}),
        (RetractArguments, {"retracted_by": None}),
        (RetractArguments, {"claim_id": "x" * 64}),
        (QueryArguments, {"limit": 1}),
        (QueryArguments, {"limit": 100}),
        (QueryArguments, {"limit": 20.0}),
        (QueryArguments, {"text": "x" * 1024, "target": "x" * 512, "cursor": "x" * 512}),
        (QueryArguments, {"tags": ["a"] * 32, "any_tags": ["a"] * 32}),
        (QueryArguments, {"stale": False, "stale_after_seconds": 0}),
        (QueryArguments, {"stale_after_seconds": 0.5}),
        (QueryArguments, {"order": "match", "retracted": "only", "detail": "full"}),
    ],
)
def test_what_is_within_the_limits_is_understood(params: type[msgspec.Struct], given: dict[str, Any]) -> None:
    arguments = LEAST[params] | given

    assert validate(params, arguments) is not None
    assert is_published(params, arguments)


@pytest.mark.parametrize(
    ("params", "field", "value"),
    [
        (AssertArguments, "project", ""),
        (AssertArguments, "project", "x" * 257),
        (AssertArguments, "statement", ""),
        (AssertArguments, "statement", "x" * 8193),
        (AssertArguments, "statement", None),
        (AssertArguments, "observed_by", ""),
        (AssertArguments, "observed_by", "x" * 257),
        (AssertArguments, "source", ""),
        (AssertArguments, "source", "x" * 257),
        (AssertArguments, "idempotency_key", ""),
        (AssertArguments, "idempotency_key", "x" * 257),
        (AssertArguments, "tags", ["a"] * 33),
        (AssertArguments, "tags", [""]),
        (AssertArguments, "tags", ["x" * 129]),
        (AssertArguments, "tags", [1]),
        (AssertArguments, "tags", "a"),
        (AssertArguments, "evidence", [NOTE] * 21),
        (AssertArguments, "evidence", [{"type": "document", "document_id": "d"}]),
        (AssertArguments, "evidence", [{"type": "note"}]),
        (AssertArguments, "evidence", [{"type": "note", "text": ""}]),
        (AssertArguments, "evidence", [{"text": "no type"}]),
        (AssertArguments, "evidence", [{"type": "claim", "claim_id": ""}]),
        (AssertArguments, "evidence", [{"type": "claim", "observation_id": "o"}]),
        (AssertArguments, "evidence", ["o_1"]),
        (AssertArguments, "about", {"subject": "s"}),
        (AssertArguments, "confidence", 1),
        (AssertArguments, "claim_id", "c"),
        (AssertArguments, "asserted_at", "2026-03-01T10:00:00Z"),
        (RetractArguments, "reason", ""),
        (RetractArguments, "reason", "x" * 8193),
        (RetractArguments, "claim_id", ""),
        (RetractArguments, "claim_id", "x" * 65),
        (RetractArguments, "retracted_by", ""),
        (QueryArguments, "text", ""),
        (QueryArguments, "text", "x" * 1025),
        (QueryArguments, "tags", ["a"] * 33),
        (QueryArguments, "any_tags", ["a"] * 33),
        (QueryArguments, "limit", 0),
        (QueryArguments, "limit", 101),
        (QueryArguments, "limit", 1.5),
        (QueryArguments, "limit", True),
        (QueryArguments, "stale", "yes"),
        (QueryArguments, "stale_after_seconds", -1),
        (QueryArguments, "stale_after_seconds", 1e11),
        (QueryArguments, "order", "best"),
        (QueryArguments, "retracted", "yes"),
        (QueryArguments, "detail", "all"),
        (QueryArguments, "target", ""),
        (QueryArguments, "cursor", "x" * 513),
        (QueryArguments, "asserted_after", "x" * 65),
        (QueryArguments, "observed_by", ""),
        (QueryArguments, "tag", "a"),
        (HistoryArguments, "claim_id", 7),
        (HistoryArguments, "limit", 7),
    ],
)
def test_what_is_beyond_the_limits_is_refused_under_its_name(
    params: type[msgspec.Struct], field: str, value: Any
) -> None:
    arguments = LEAST[params] | {field: value}

    with pytest.raises(ToolError) as refused:
        validate(params, arguments)

    assert (refused.value.code, refused.value.field) == ("invalid_arguments", field)
    assert not is_published(params, arguments)


def test_evidence_is_told_apart_by_its_type() -> None:
    given = [{"type": "observation", "observation_id": "o"}, {"type": "claim", "claim_id": "c"}, NOTE]

    made = validate(AssertArguments, LEAST[AssertArguments] | {"evidence": given})

    assert made.evidence == [ObservationRef(observation_id="o"), ClaimRef(claim_id="c"), Note(text="seen")]
