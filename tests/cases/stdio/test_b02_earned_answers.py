"""B02: answers that were already earned are not lost at the end of input."""

from __future__ import annotations

from typing import Any

import pytest

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
QUICK = [["read", RESPONSE, "eof"]]
LATE = [["read", ("wait", 0.3), RESPONSE, "eof"]]


def pipe_everything(server: Any, byte_server: Any) -> tuple[Any, list[Any]]:
    """A client that writes all its requests and closes at once; the server and all answers."""
    facts = server(PLINTH_FACTS_MAX_IN_FLIGHT="0")
    quick, late = byte_server(QUICK), byte_server(LATE)
    facts.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    facts.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for id_ in range(1, 51):
        facts.call(id_, f"{quick.url}{id_}")
    for id_ in range(51, 56):
        facts.call(id_, late.url)
    facts.hang_up()
    assert facts.ended() == 0
    return facts, facts.said()


def check(server: Any, byte_server: Any) -> None:
    facts, said = pipe_everything(server, byte_server)

    assert sorted(answer["id"] for answer in said) == list(range(56))
    given = {answer["result"]["structuredContent"]["observation_id"] for answer in said if answer["id"]}
    assert {record["id"] for record in facts.records()} == given
    assert len(given) == 55


@pytest.mark.parametrize("run", range(2))
def test_b02_every_request_is_answered_and_stored_although_the_input_ended(
    run: int, server: Any, byte_server: Any
) -> None:
    check(server, byte_server)


def check_claims(server: Any, byte_server: Any) -> None:
    facts, late = server(PLINTH_FACTS_MAX_IN_FLIGHT="0"), byte_server(LATE)
    facts.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    for id_ in range(1, 51):
        facts.recall(id_, "assert", statement=f"claim {id_}", observed_by="a client that leaves")
    for id_ in range(51, 56):
        facts.call(id_, late.url)
    facts.hang_up()
    assert facts.ended() == 0
    again = server(PLINTH_DATA_DIR=str(facts.folder / "data"))
    again.initialize()
    again.recall(1, "query", limit=100, order="oldest")
    found = [claim["claim_id"] for claim in again.content(1)["claims"]]

    contents = {answer["id"]: answer["result"].get("structuredContent") for answer in facts.said()}
    assert sorted(contents) == list(range(56))
    assert found == sorted(contents[id_]["claim_id"] for id_ in range(1, 51))
    assert [contents[id_]["ok"] for id_ in range(51, 56)] == [True] * 5


def test_b02_every_claim_is_acknowledged_and_there_after_a_restart(server: Any, byte_server: Any) -> None:
    check_claims(server, byte_server)


@pytest.mark.slow
def test_b02_every_claim_is_acknowledged_twenty_times_in_a_row(server: Any, byte_server: Any) -> None:
    for _ in range(20):
        check_claims(server, byte_server)


@pytest.mark.slow
def test_b02_every_request_is_answered_twenty_times_in_a_row(server: Any, byte_server: Any) -> None:
    for _ in range(20):
        check(server, byte_server)


@pytest.mark.slow
def test_b02_a_call_that_never_ends_is_answered_as_cancelled_before_the_exit(
    server: Any, byte_server: Any
) -> None:
    facts, target = server(), byte_server([["read", "hang"]])
    facts.initialize()
    facts.call(1, target.url, timeout_ms=60_000)
    facts.hang_up()

    assert facts.ended(within=8) == 0
    content = facts.content(1)
    assert (content["ok"], content["error"]["code"], content["stored"]) == (False, "cancelled", True)
    assert [record["id"] for record in facts.records()] == [content["observation_id"]]
