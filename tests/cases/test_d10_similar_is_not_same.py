"""D10: only what is the same in every part is the same claim; what is merely similar is stored apart."""

from __future__ import annotations

from typing import Any

import pytest

NOTE = {"type": "note", "text": "seen in the dashboard"}

APART: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another host": (
        {"statement": "api.a.test listens on 443"},
        {"statement": "api.b.test listens on 443"},
    ),
    "another day": (
        {"statement": "latency was 120 ms on 1 March"},
        {"statement": "latency was 120 ms on 2 March"},
    ),
    "the opposite": ({"statement": "port 8090 open"}, {"statement": "port 8090 not open"}),
    "another source": ({"source": "the wiki"}, {"source": "the mail of Monday"}),
    "a source and none": ({"source": "the wiki"}, {}),
    "a trailing space": ({"statement": "x answers"}, {"statement": "x answers "}),
    "another case of letters": ({"statement": "X answers"}, {"statement": "x answers"}),
    "another spelling of the same letters": ({"statement": "caf\u00e9"}, {"statement": "cafe\u0301"}),
    "another asserter": ({"observed_by": "anna"}, {"observed_by": "bert"}),
    "another tag": ({"tags": ["a"]}, {"tags": ["b"]}),
    "another order of tags": ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}),
    "evidence and none": ({"evidence": [NOTE]}, {}),
    "other evidence": ({"evidence": [NOTE]}, {"evidence": [{**NOTE, "text": "seen in the log"}]}),
    "the same evidence twice": ({"evidence": [NOTE]}, {"evidence": [NOTE, NOTE]}),
    "a key and none": ({"idempotency_key": "k"}, {}),
}


def claimed(**parts: Any) -> dict[str, Any]:
    return {"statement": "x answers", "observed_by": "anna", **parts}


@pytest.mark.parametrize(("one", "other"), APART.values(), ids=APART)
def test_d10_similar_claims_are_stored_apart(one: Any, other: Any, clerk: Any) -> None:
    desk = clerk()
    first, second = (desk.ask("assert", **claimed(**parts)) for parts in (one, other))

    assert (first["created"], second["created"]) == (True, True)
    found = [claim["claim_id"] for claim in desk.ask("query")["claims"]]
    assert found == [second["claim_id"], first["claim_id"]]
    for claim, parts in ((first, one), (second, other)):
        (event,) = desk.ask("history", claim_id=claim["claim_id"])["events"]
        assert event["event"]["statement"] == claimed(**parts)["statement"]


@pytest.mark.parametrize(
    "parts", [{}, {"source": "the wiki"}, {"evidence": [NOTE], "tags": ["a"]}, {"idempotency_key": "k"}]
)
def test_d10_the_same_in_every_part_is_answered_with_the_claim_that_stands(parts: Any, clerk: Any) -> None:
    desk = clerk()
    first = desk.ask("assert", **claimed(**parts))
    again = desk.ask("assert", **claimed(**parts))

    assert (first["created"], again["created"]) == (True, False)
    assert again["claim_id"] == first["claim_id"]
    assert again["asserted_at"] == first["asserted_at"]
    assert desk.ask("query")["matched"] == 1


def test_d10_the_same_at_once_is_one_claim(clerk: Any) -> None:
    desk = clerk()
    answers = desk.all(*[("assert", claimed())] * 50)

    assert sum(answer["created"] for answer in answers) == 1
    assert len({answer["claim_id"] for answer in answers}) == 1


def test_d10_the_same_across_a_restart_is_the_claim_that_stands(clerk: Any) -> None:
    desk = clerk()
    first = desk.ask("assert", **claimed())
    desk.close()
    again = clerk().ask("assert", **claimed())

    assert (again["created"], again["claim_id"]) == (False, first["claim_id"])


def test_d10_the_same_in_another_project_is_another_claim(clerk: Any) -> None:
    desk = clerk()
    first = desk.ask("assert", **claimed())
    second = desk.ask("assert", project="q", **claimed())

    assert (first["created"], second["created"]) == (True, True)
    assert first["claim_id"] != second["claim_id"]


def test_d10_what_was_taken_back_can_be_asserted_again_and_stays_retracted(clerk: Any) -> None:
    desk = clerk()
    first = desk.ask("assert", **claimed())
    desk.ask("retract", claim_id=first["claim_id"], reason="it was the other host")
    second = desk.ask("assert", **claimed())

    assert second["created"] is True
    (standing,) = desk.ask("query")["claims"]
    (gone,) = desk.ask("query", retracted="only")["claims"]
    assert (standing["claim_id"], gone["claim_id"]) == (second["claim_id"], first["claim_id"])


def test_d10_nothing_is_retired_without_a_retraction(clerk: Any) -> None:
    desk = clerk()
    for day in range(1, 31):
        desk.ask("assert", **claimed(statement=f"latency was 120 ms on {day} March"))

    assert desk.ask("query", limit=100, text="latency march")["matched"] == 30
    assert desk.ask("query", retracted="only")["matched"] == 0


def test_d10_a_key_that_was_used_for_other_content_is_a_conflict_that_names_the_claim(clerk: Any) -> None:
    desk = clerk()
    first = desk.ask("assert", **claimed(idempotency_key="k"))
    other = desk.ask("assert", **claimed(statement="y answers", idempotency_key="k"))

    assert (other["code"], other["reason_code"]) == ("conflict", "idempotency_key_reused")
    assert other["details"] == {"claim_id": first["claim_id"]}
    assert desk.ask("query")["matched"] == 1
