"""What a claim cites is looked up and embedded; what its caller wrote is stored without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.errors import ToolError
from app.records.events import Asserted
from app.tools.recall_arguments import AssertArguments
from app.tools.recall_evidence import asserted
from app.tools.tool import validate

PEM = ["-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]


def event(desk: Any, *evidence: dict[str, Any], **members: Any) -> Asserted:
    given = {
        "project": "p",
        "statement": "It listens.",
        "observed_by": "me",
        "evidence": [*evidence],
        **members,
    }
    kept = desk.archive
    return asserted(kept.registry, kept.redactor, "p", validate(AssertArguments, given))


def test_a_measurement_is_embedded_as_it_is_stored(desk: Any) -> None:
    observation_id = desk.observe(data={"kind": "http", "body": "x" * 5000})

    made = event(desk, {"type": "observation", "observation_id": observation_id})

    assert made.evidence == [
        {
            "type": "observation",
            "observation_id": observation_id,
            "observed_at": "2026-03-01T10:00:00.000000Z",
            "tool": "facts.measure.http",
            "arguments": {"url": "http://127.0.0.1:8080/"},
            "ok": True,
            "error": None,
            "data": {"kind": "http", "body": "x" * 5000},
        }
    ]


def test_a_measurement_that_failed_can_be_cited(desk: Any) -> None:
    failed = desk.observe(ok=False, data=None, error={"code": "refused", "phase": "connect"})

    (item,) = event(desk, {"type": "observation", "observation_id": failed}).evidence

    assert (item["ok"], item["data"], item["error"]["code"]) == (False, None, "refused")


@pytest.mark.parametrize("taken_back", [False, True])
def test_a_claim_is_embedded_by_what_it_says_taken_back_or_not(desk: Any, *, taken_back: bool) -> None:
    note = {"type": "note", "text": "deep"}
    claim_id = desk.call("assert", statement="base", observed_by="you", tags=["t"], evidence=[note])[
        "claim_id"
    ]
    if taken_back:
        desk.call("retract", claim_id=claim_id, reason="wrong")

    made = event(desk, {"type": "claim", "claim_id": claim_id})

    assert made.evidence == [
        {
            "type": "claim",
            "claim_id": claim_id,
            "asserted_at": "2026-03-01T10:00:00.000000Z",
            "statement": "base",
            "observed_by": "you",
            "tags": ["t"],
        }
    ]


def test_evidence_stays_in_the_order_in_which_it_was_given(desk: Any) -> None:
    observation = {"type": "observation", "observation_id": desk.observe()}

    made = event(desk, {"type": "note", "text": "one"}, observation, {"type": "note", "text": "two"})

    assert [item.get("text") for item in made.evidence] == ["one", None, "two"]


@pytest.mark.parametrize(
    ("item", "field", "what"),
    [
        (
            {"type": "observation", "observation_id": "o_01K5Z9K2QX7T4BVWRM3P8QJHYD"},
            "observation_id",
            "observation",
        ),
        ({"type": "observation", "observation_id": "nonsense"}, "observation_id", "observation"),
        ({"type": "claim", "claim_id": "c_01K5Z9K2QX7T4BVWRM3P8QJHYD"}, "claim_id", "claim"),
        ({"type": "claim", "claim_id": "../../etc/passwd"}, "claim_id", "claim"),
        ({"type": "claim", "claim_id": "\udc00"}, "claim_id", "claim"),
    ],
)
def test_evidence_that_does_not_exist_is_named_by_its_place(
    desk: Any, item: dict[str, Any], field: str, what: str
) -> None:
    desk.observe()
    desk.call("assert", statement="base", observed_by="me")

    with pytest.raises(ToolError, match=f"project p has no {what} with this id") as refused:
        event(desk, {"type": "note", "text": "seen"}, item)

    assert (refused.value.code, refused.value.field) == ("not_found", f"evidence[1].{field}")


def test_evidence_of_another_project_does_not_exist(desk: Any) -> None:
    with pytest.raises(ToolError, match="project p has no observation"):
        event(desk, {"type": "observation", "observation_id": desk.observe(project="q")})


def test_a_retraction_is_no_claim_to_cite(desk: Any) -> None:
    claim_id = desk.call("assert", statement="base", observed_by="me")["claim_id"]
    retraction_id = desk.call("retract", claim_id=claim_id, reason="wrong")["retraction_id"]

    with pytest.raises(ToolError, match="project p has no claim"):
        event(desk, {"type": "claim", "claim_id": retraction_id})


@pytest.mark.parametrize(("log", "prefix"), [("observations", "o"), ("claims", "c")])
def test_a_line_of_a_later_version_cannot_be_cited(desk: Any, tmp_path: Path, log: str, prefix: str) -> None:
    record_id = f"{prefix}_01K5Z9K2QX7T4BVWRM3P8QJHYD"
    folder = tmp_path / "projects/p/logs"
    folder.mkdir(parents=True)
    (folder / f"{log}.jsonl").write_text(f'{{"v":2,"seq":1,"id":"{record_id}","type":"asserted"}}\n')
    item = {
        "o": {"type": "observation", "observation_id": record_id},
        "c": {"type": "claim", "claim_id": record_id},
    }

    with pytest.raises(ToolError, match="with this id"):
        event(desk, item[prefix])


def test_every_text_of_the_caller_is_stored_without_secrets(desk: Any) -> None:
    secret = "password=hunter2hunter2"

    made = event(
        desk,
        {"type": "note", "text": f"a note, {secret}"},
        statement=secret,
        observed_by=secret,
        source=secret,
        idempotency_key=secret,
        tags=["plain", secret],
    )

    mask = made.statement
    assert mask.startswith("password=[redacted:")
    assert (made.observed_by, made.source, made.idempotency_key, made.tags) == (
        mask,
        mask,
        mask,
        ["plain", mask],
    )
    assert made.evidence == [{"type": "note", "text": f"a note, {mask}"}]


def test_a_private_key_in_pieces_is_masked_in_every_piece(desk: Any) -> None:
    made = event(desk, {"type": "note", "text": PEM[0]}, {"type": "note", "text": PEM[1]})

    assert all("MIIE" not in item["text"] and "BKcw" not in item["text"] for item in made.evidence)


def test_what_is_cited_was_masked_when_it_was_stored_and_is_not_touched_again(desk: Any) -> None:
    stored = {"kind": "http", "body": "token: [redacted:parameter:0123abcd]", "password": "shown as stored"}

    (item,) = event(desk, {"type": "observation", "observation_id": desk.observe(data=stored)}).evidence

    assert item["data"] == stored


def test_what_was_not_given_is_not_there(desk: Any) -> None:
    assert event(desk) == Asserted("It listens.", [], "me", [])
