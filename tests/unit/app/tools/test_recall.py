"""The four tools of recall, each through its call: what is stored, what is answered, and how old it is said to be."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app.errors import StoreError
from app.recall.answer import shown
from app.store import index_file
from app.tools import recall_guards
from app.tools.recall import INLINE_CHARACTERS, find, tell
from app.tools.recall_arguments import HistoryArguments, QueryArguments

TEN = "2026-03-01T10:00:00.000000Z"


def lines(directory: Path, project: str = "p") -> list[dict[str, Any]]:
    log = directory / "projects" / project / "logs" / "claims.jsonl"
    return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


def said(desk: Any, statement: str = "It listens.", **members: Any) -> str:
    """The id of a claim."""
    claim_id: str = desk.call("assert", statement=statement, observed_by="me", **members)["claim_id"]
    return claim_id


def found(desk: Any, **asked: Any) -> list[str]:
    """The statements that are found."""
    return [claim["statement"] for claim in desk.call("query", **asked)["claims"]]


def test_the_tools_are_four_in_this_order_and_none_destroys_anything(desk: Any) -> None:
    annotations = {name: tool.annotations for name, tool in desk.tools.items()}

    assert list(annotations) == ["assert", "retract", "query", "history"]
    assert [told["readOnlyHint"] for told in annotations.values()] == [False, False, True, True]
    assert {
        (told["destructiveHint"], told["idempotentHint"], told["openWorldHint"])
        for told in annotations.values()
    } == {(False, True, False)}


def test_an_assertion_is_stored_before_it_is_answered(desk: Any, tmp_path: Path) -> None:
    answer = desk.call("assert", project="Check Out", statement="It listens.", observed_by="me", tags=["a"])

    (line,) = lines(tmp_path, "check-out")
    assert line == {
        "v": 1,
        "seq": 1,
        "id": answer["claim_id"],
        "at": TEN,
        "type": "asserted",
        "statement": "It listens.",
        "evidence": [],
        "observed_by": "me",
        "tags": ["a"],
    }
    assert answer == {
        "project": "check-out",
        "observed_at": shown(TEN),
        "created": True,
        "claim_id": line["id"],
        "statement": "It listens.",
        "evidence": [],
        "observed_by": "me",
        "tags": ["a"],
        "asserted_at": shown(TEN),
        "age_seconds": 0.0,
        "age_basis": "monotonic",
        "stale": False,
        "retracted": False,
        "retraction": None,
        "remeasure_with": None,
    }


def test_everything_that_was_said_comes_back_from_the_log(desk: Any, open_desk: Callable[..., Any]) -> None:
    evidence = [{"type": "observation", "observation_id": desk.observe()}, {"type": "note", "text": "seen"}]
    members = {"tags": ["b", "a"], "source": "a book", "idempotency_key": "k", "evidence": evidence}
    told = desk.call("assert", statement="größer\u2028", observed_by="me", **members)

    (again,) = open_desk().call("query", detail="full")["claims"]

    same = ("claim_id", "statement", "observed_by", "tags", "source", "idempotency_key", "asserted_at")
    assert {name: again[name] for name in same} == {name: told[name] for name in same}
    assert again["remeasure_with"] == told["remeasure_with"]
    assert [item["type"] for item in again["evidence"]] == ["observation", "note"]
    assert again["age_basis"] == "wall_clock"


def test_saying_the_same_again_answers_with_the_first(desk: Any, clock: Any, tmp_path: Path) -> None:
    first = desk.call("assert", statement="a", observed_by="me")
    clock.pass_by(5)

    second = desk.call("assert", statement="a", observed_by="me")

    assert second == first | {"created": False, "observed_at": second["observed_at"], "age_seconds": 5.0}
    assert len(lines(tmp_path)) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"statement": "b"},
        {"observed_by": "you"},
        {"tags": ["x"]},
        {"source": "a book"},
        {"idempotency_key": "k"},
        {"evidence": [{"type": "note", "text": "seen"}]},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_differs_in_one_field_is_another_claim(desk: Any, other: dict[str, Any]) -> None:
    base = {"statement": "a", "observed_by": "me"}
    first, second = desk.call("assert", **base), desk.call("assert", **base | other)

    assert (second["created"], second["claim_id"] != first["claim_id"]) == (True, True)


def test_a_claim_of_another_project_is_another_claim(desk: Any) -> None:
    answers = [desk.call("assert", project=name, statement="a", observed_by="me") for name in ("p", "q")]

    assert [answer["created"] for answer in answers] == [True, True]
    assert [desk.call("query", project=name)["matched"] for name in ("p", "q", "r")] == [1, 1, 0]


def test_what_was_taken_back_may_be_said_again(desk: Any) -> None:
    first = said(desk)
    desk.call("retract", claim_id=first, reason="wrong")

    again = desk.call("assert", statement="It listens.", observed_by="me")

    assert (again["created"], again["claim_id"] > first) == (True, True)


def test_a_key_with_the_same_content_answers_with_the_first(desk: Any) -> None:
    first = said(desk, idempotency_key="k")

    assert said(desk, idempotency_key="k") == first


def test_a_key_may_be_used_again_for_the_same_content_when_the_claim_was_taken_back(desk: Any) -> None:
    first = said(desk, idempotency_key="k")
    desk.call("retract", claim_id=first, reason="wrong")

    assert said(desk, idempotency_key="k") > first


@pytest.mark.parametrize("taken_back", [False, True])
def test_a_key_with_other_content_is_a_conflict(desk: Any, *, taken_back: bool) -> None:
    first = said(desk, idempotency_key="k")
    if taken_back:
        desk.call("retract", claim_id=first, reason="wrong")

    refused = desk.call("assert", statement="another", observed_by="me", idempotency_key="k")

    assert (refused["code"], refused["field"]) == ("conflict", "idempotency_key")
    assert (refused["reason_code"], refused["details"]) == ("idempotency_key_reused", {"claim_id": first})


def test_the_answer_may_be_brief(desk: Any) -> None:
    cited = [{"type": "observation", "observation_id": desk.observe(data={"kind": "http", "body": "long"})}]

    data = [
        desk.call("assert", statement="a", observed_by="me", evidence=cited, detail=detail)["evidence"][0][
            "data"
        ]
        for detail in ("brief", "full")
    ]

    assert data == [{"kind": "http"}, {"kind": "http", "body": "long"}]


def test_a_long_statement_is_searched_for_secrets_too(desk: Any, tmp_path: Path) -> None:
    statement = "password=hunter2hunter2 " + "word " * INLINE_CHARACTERS

    answer = desk.call("assert", statement=statement, observed_by="me")

    assert answer["statement"].startswith("password=[redacted:")
    assert "hunter2" not in json.dumps([answer, *lines(tmp_path)])


def test_what_fits_into_no_line_is_the_callers_to_shorten(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.records.codec.MAX_LINE_BYTES", 1000)
    vast = {"type": "note", "text": "x" * 1000}

    refused = desk.call("assert", statement="a", observed_by="me", evidence=[vast])

    assert (refused["code"], refused["field"]) == ("invalid_arguments", "evidence")
    assert lines(tmp_path) == []


def test_a_retraction_is_a_line_of_its_own(desk: Any, clock: Any, tmp_path: Path) -> None:
    claim_id = said(desk)
    clock.pass_by(2)

    answer = desk.call("retract", claim_id=claim_id, reason="It was another port.", retracted_by="you")

    line = lines(tmp_path)[1]
    assert line == {
        "v": 1,
        "seq": 2,
        "id": answer["retraction_id"],
        "at": "2026-03-01T10:00:02.000000Z",
        "type": "retracted",
        "claim_id": claim_id,
        "reason": "It was another port.",
        "retracted_by": "you",
    }
    assert answer == {
        "project": "p",
        "observed_at": shown(line["at"]),
        "retraction_id": line["id"],
        "claim_id": claim_id,
        "reason": "It was another port.",
        "retracted_by": "you",
        "retracted_at": shown(line["at"]),
        "age_seconds": 0.0,
        "age_basis": "monotonic",
    }
    assert (line["id"][:2], line["id"][2:] > claim_id[2:]) == ("r_", True)


def test_a_second_retraction_is_refused_with_the_first(desk: Any, clock: Any, tmp_path: Path) -> None:
    claim_id = said(desk)
    first = desk.call("retract", claim_id=claim_id, reason="wrong")
    clock.pass_by(3)

    refused = desk.call("retract", claim_id=claim_id, reason="still wrong")

    told = {name: value for name, value in first.items() if name not in ("project", "observed_at")}
    assert (refused["code"], refused["reason_code"]) == ("conflict", "already_retracted")
    assert refused["details"] == {"retraction": told | {"age_seconds": 3.0}}
    assert len(lines(tmp_path)) == 2


@pytest.mark.parametrize("claim_id", ["c_01K5Z9K2QX7T4BVWRM3P8QJHYD", "nonsense", "c_\udc00", "c_"])
@pytest.mark.parametrize("name", ["retract", "history"])
def test_what_does_not_exist_is_not_found(desk: Any, name: str, claim_id: str) -> None:
    said(desk)

    refused = desk.call(name, claim_id=claim_id, **({"reason": "wrong"} if name == "retract" else {}))

    assert (refused["code"], refused["field"]) == ("not_found", "claim_id")
    assert refused["message"] == "Project p has no claim with this id."


def test_a_retraction_has_no_secret_in_it(desk: Any, tmp_path: Path) -> None:
    secret = "password=hunter2hunter2"
    answer = desk.call("retract", claim_id=said(desk), reason=secret, retracted_by=secret)

    assert "hunter2" not in json.dumps([answer, *lines(tmp_path)])
    assert answer["reason"] == answer["retracted_by"]


def test_what_was_taken_back_is_left_out_unless_it_is_asked_for(desk: Any) -> None:
    desk.call("retract", claim_id=said(desk, "one"), reason="wrong")
    said(desk, "two")

    told = [found(desk, retracted=how) for how in ("exclude", "only", "include")]

    assert [found(desk), *told] == [["two"], ["two"], ["one"], ["two", "one"]]


def test_a_claim_that_was_taken_back_says_so(desk: Any) -> None:
    retraction = desk.call("retract", claim_id=said(desk), reason="wrong")

    (claim,) = desk.call("query", retracted="only")["claims"]

    assert claim["retracted"] is True
    assert claim["retraction"] == {
        name: value for name, value in retraction.items() if name not in ("project", "observed_at")
    }


def test_a_query_answers_a_page_and_where_the_next_begins(desk: Any) -> None:
    for number in range(5):
        said(desk, f"number {number}")
    cursor, pages, answer = None, [], {}
    for _ in range(3):
        answer = desk.call("query", limit=2, text="number", **({"cursor": cursor} if cursor else {}))
        pages.append([claim["statement"][-1] for claim in answer["claims"]])
        cursor = answer["next_cursor"]

    size = answer["index"]["of"]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert (answer["matched"], answer["matched_is_exact"], cursor) == (5, True, None)
    assert answer["index"] == {"state": "current", "position": size, "of": size}


def test_a_project_that_nobody_used_is_empty(desk: Any, tmp_path: Path) -> None:
    answer = desk.call("query", project="Nobody's".replace("'", "-"), text="red")

    assert answer == {
        "project": "nobody-s",
        "observed_at": shown(TEN),
        "claims": [],
        "matched": 0,
        "matched_is_exact": True,
        "next_cursor": None,
        "index": {"state": "current", "position": 0, "of": 0},
    }
    assert not (tmp_path / "projects" / "nobody-s" / "logs").exists()


def test_stale_is_said_by_the_query_or_by_the_operator(desk: Any, clock: Any) -> None:
    said(desk)
    clock.pass_by(3600)
    at_the_limit = desk.call("query")["claims"][0]["stale"]
    clock.pass_by(1)

    stale = [
        desk.call("query", **asked)["claims"][0]["stale"] for asked in ({}, {"stale_after_seconds": 3601})
    ]

    assert (at_the_limit, stale) == (False, [True, False])


def test_stale_claims_are_found_by_the_age_of_their_measurement(desk: Any, clock: Any) -> None:
    old, new = desk.observe(observed_at="2026-03-01T08:00:00.000000Z"), desk.observe()
    for statement, observation in (("old", old), ("new", new)):
        said(desk, statement, evidence=[{"type": "observation", "observation_id": observation}])
    said(desk, "none")

    assert [found(desk, stale=True), found(desk, stale=False)] == [["old"], ["none", "new"]]
    clock.pass_by(3601)
    assert [found(desk, stale=True), found(desk, stale=False)] == [["none", "new", "old"], []]


@pytest.mark.parametrize("step", [-7200, 7200], ids=["back", "forward"])
def test_a_wall_clock_that_was_set_makes_nothing_stale_that_was_seen_here(
    desk: Any, clock: Any, step: int
) -> None:
    said(desk)
    clock.set_by(step)

    stale, fresh = desk.call("query", stale=True), desk.call("query", stale=False)

    assert ([claim["stale"] for claim in fresh["claims"]], stale["claims"]) == ([False], [])
    assert (stale["matched_is_exact"], desk.call("query")["matched_is_exact"]) == (False, True)


@pytest.mark.parametrize("step", [-86_400, 86_400], ids=["back", "forward"])
def test_ages_are_never_negative_whatever_the_clock_does(
    desk: Any, open_desk: Callable[..., Any], clock: Any, step: int
) -> None:
    claim_id = said(desk, evidence=[{"type": "observation", "observation_id": desk.observe()}])
    clock.set_by(step)
    elsewhere = open_desk().call("query")["claims"][0]
    here = desk.call("history", claim_id=claim_id)["events"][0]

    wall = float(max(step, 0))
    assert (here["age_seconds"], here["age_basis"]) == (0.0, "monotonic")
    assert (elsewhere["age_seconds"], elsewhere["age_basis"]) == (wall, "wall_clock")
    assert elsewhere["evidence"][0]["age_seconds"] == wall


def test_history_is_every_line_byte_for_byte(desk: Any, clock: Any, tmp_path: Path) -> None:
    claim_id = said(desk, "größer")
    said(desk, "another")
    clock.pass_by(4)
    desk.call("retract", claim_id=claim_id, reason="wrong")
    clock.pass_by(1)

    answer = desk.call("history", claim_id=claim_id)

    content = (tmp_path / "projects/p/logs/claims.jsonl").read_bytes()
    own = [line for line in content.splitlines() if claim_id.encode() in line]
    assert (answer["project"], answer["claim_id"], len(own)) == ("p", claim_id, 2)
    assert [event["line"].encode() for event in answer["events"]] == own
    assert [event["position"] for event in answer["events"]] == [content.index(line) for line in own]
    assert [event["line_sha256"] for event in answer["events"]] == [sha256(line).hexdigest() for line in own]
    assert [event["event"] for event in answer["events"]] == [json.loads(line) for line in own]
    assert [event["age_seconds"] for event in answer["events"]] == [5.0, 1.0]
    assert answer["events"][0]["recorded_at"] == shown(TEN)


def test_a_line_of_a_later_version_is_served_raw_and_has_no_age(desk: Any, tmp_path: Path) -> None:
    claim_id = said(desk)
    log = tmp_path / "projects/p/logs/claims.jsonl"
    later = log.read_bytes().replace(b'"v":1,"seq":1', b'"v":2,"seq":2')
    with log.open("ab") as file:
        file.write(later)

    event = desk.call("history", claim_id=claim_id)["events"][1]

    assert (event["line"].encode() + b"\n", event["event"]["v"]) == (later, 2)
    assert [event[name] for name in ("recorded_at", "age_seconds", "age_basis")] == [None, None, None]


def test_two_servers_on_one_directory_see_the_same(desk: Any, open_desk: Callable[..., Any]) -> None:
    other = open_desk()
    first = said(desk)

    assert said(other) == first
    other.call("retract", claim_id=first, reason="wrong")
    assert desk.call("retract", claim_id=first, reason="wrong")["reason_code"] == "already_retracted"
    assert desk.call("query")["matched"] == 0


@pytest.mark.parametrize("name", ["assert", "retract", "query", "history"])
def test_a_name_of_a_project_that_cannot_be_one_is_an_argument_error(desk: Any, name: str) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "assert": {"statement": "a", "observed_by": "me"},
        "retract": {"claim_id": "c", "reason": "wrong"},
        "query": {},
        "history": {"claim_id": "c"},
    }

    refused = desk.call(name, project="..", **arguments[name])

    assert (refused["code"], refused["field"]) == ("invalid_arguments", "project")


def test_a_directory_that_cannot_be_used_is_a_storage_error(desk: Any, tmp_path: Path) -> None:
    (tmp_path / "projects").symlink_to(tmp_path)

    with pytest.raises(StoreError) as failure:
        said(desk)

    assert failure.value.reason == "symlink"
    assert not (tmp_path / "p").exists()


def test_the_command_line_asks_the_same_without_a_loop(desk: Any) -> None:
    claim_id = said(desk)

    asked = find(desk.archive, QueryArguments(project="p"))
    told = tell(desk.archive, HistoryArguments(project="p", claim_id=claim_id))

    assert asked == desk.call("query")
    assert told == desk.call("history", claim_id=claim_id)


def test_a_query_holds_up_nobody(desk: Any) -> None:
    said(desk)
    turns = []

    async def go() -> dict[str, Any]:
        tool = desk.tools["query"]
        task = asyncio.ensure_future(tool.run(QueryArguments(project="p"), {}, None))
        while not task.done():
            turns.append(1)
            await asyncio.sleep(0)
        answer: dict[str, Any] = task.result()
        return answer

    assert (asyncio.run(go())["matched"], len(turns) > 1) == (1, True)


def test_an_index_that_others_write_to_is_asked_as_it_is_and_history_waits(
    open_desk: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(recall_guards, "PATIENCE_SECONDS", 0.05)
    desk, other = open_desk(), open_desk()
    said(desk, "the first")
    assert found(desk) == found(other)
    with closing(sqlite3.connect(tmp_path / "projects/p/index.sqlite")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        late = said(other, "the second")
        early = desk.call("query")
        refused = desk.call("history", claim_id=late)
        refused_too = desk.call("assert", statement="a third", observed_by="me")
        connection.rollback()

    assert (early["index"]["state"], early["matched_is_exact"]) == ("building", False)
    assert early["index"]["position"] < early["index"]["of"]
    assert [each["reason_code"] for each in (refused, refused_too)] == ["index_building"] * 2
    assert len(desk.call("history", claim_id=late)["events"]) == 1
