"""B08: batches are answered whole or refused whole; never silence, never half a deed."""

from __future__ import annotations

import json
from typing import Any

import pytest

PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "p", "result": {}}
OPENING = {"jsonrpc": "2.0", "id": "o", "method": "initialize", "params": {}}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
UNSUPPORTED = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Batches are not supported"}}


def error(message: str, **known: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **known, "error": {"code": -32600, "message": message}}


BATCHES: dict[str, tuple[list[Any], Any]] = {
    "nothing": ([], error("A batch must not be empty")),
    "a ping": ([PING], [PONG]),
    "two pings": ([PING, PING], [PONG, PONG]),
    "a notification": ([NOTE], None),
    "a number": ([1], [error("A message is a JSON object")]),
    "an opening and a ping": (
        [OPENING, PING],
        [error("This request must not be part of a batch", id="o"), PONG],
    ),
    "ten thousand pings": ([PING] * 10_000, [PONG] * 10_000),
}


def said_between(facts: Any, batch: list[Any], number: int) -> list[Any]:
    """What is said to a batch: whatever comes before the answer to the ping that follows it."""
    before = len(facts.said())
    facts.say(batch)
    facts.ping(number)
    return list(facts.said()[before:-1])


def test_b08_the_revision_that_has_batches_answers_them(server: Any) -> None:
    facts = server()
    facts.initialize("2025-03-26")
    said = [said_between(facts, batch, number) for number, (batch, _) in enumerate(BATCHES.values())]

    assert said == [[] if expected is None else [expected] for _, expected in BATCHES.values()]


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2024-11-05"])
def test_b08_the_others_refuse_them_with_one_error(version: str, server: Any) -> None:
    facts = server()
    facts.initialize(version)
    said = [said_between(facts, batch, number) for number, (batch, _) in enumerate(BATCHES.values())]

    assert said == [[UNSUPPORTED]] * len(BATCHES)


def calls(url: str) -> list[Any]:
    arguments = {"project": "cases", "url": url}
    params = {"name": "facts_measure_http", "arguments": arguments}
    return [{"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params} for id_ in (1, 2)]


def test_b08_a_batch_of_calls_is_answered_in_one_line(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    facts.initialize("2025-03-26")
    facts.say([*calls(target.url), PING])
    answers = facts.lines(2)[1]

    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "p"]
    texts = [json.loads(one["result"]["content"][0]["text"]) for one in answers if one != PONG]
    assert [text["ok"] for text in texts] == [True, True]


def test_b08_of_a_refused_batch_nothing_is_executed(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server([["read", "eof"]])
    facts.initialize("2025-06-18")
    facts.say(calls(target.url))
    facts.hang_up()

    assert facts.ended() == 0
    assert (facts.said()[1:], target.connections) == ([UNSUPPORTED], 0)


def claims(count: int) -> list[Any]:
    given = [
        {"project": "cases", "statement": f"claim {number}", "observed_by": "anna"} for number in range(count)
    ]
    params = [{"name": "facts_recall_assert", "arguments": arguments} for arguments in given]
    return [
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": each}
        for id_, each in enumerate(params)
    ]


def test_b08_a_batch_of_claims_is_stored_whole_and_answered_in_one_line(server: Any) -> None:
    facts = server()
    facts.initialize("2025-03-26")
    facts.say([*claims(20), PING])
    answers = {answer["id"]: answer["result"] for answer in facts.lines(2)[1]}

    assert answers.pop("p") == {}
    told = {json.loads(result["content"][0]["text"])["claim_id"] for result in answers.values()}
    assert {line["id"] for line in facts.records("claims")} == told
    assert len(told) == 20


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2024-11-05"])
def test_b08_no_claim_of_a_refused_batch_is_stored(version: str, server: Any) -> None:
    facts = server()
    facts.initialize(version)
    facts.say(claims(20))
    facts.say(claims(1))
    facts.recall("after", "query")

    found = json.loads(facts.answer("after")["result"]["content"][0]["text"])
    assert found["matched"] == 0
    assert facts.said()[1:-1] == [UNSUPPORTED] * 2
    assert not list((facts.folder / "data").rglob("claims.jsonl"))
