"""One conversation, in both eras."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from app.errors import RequestError
from app.mcp.events import Call, Cancel, Held, Send
from app.mcp.peer import Peer, ToolOutcome

IN_USE = {"code": -32600, "message": "A request with this id is still in flight"}
NO_BATCH = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Batches are not supported"}}
PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "p", "result": {}}


def test_a_call_is_handed_out_and_its_answer_carries_the_id(talk: Any) -> None:
    call = talk.call("a")

    assert call == Call(1, "a", "ingest", {"a": 1}, progress=False, revision="2026-07-28")
    assert talk.finish(call)[0]["id"] == "a"
    assert talk.peer.in_flight == 0


def test_a_call_by_the_wire_name_is_handed_out_by_the_canonical_one(talk: Any) -> None:
    (call,) = talk.modern("tools/call", name="facts_measure_http")

    assert (call.name, call.arguments) == ("facts.measure.http", {})


def test_the_answer_has_the_form_of_the_revision_of_its_request(talk: Any) -> None:
    talk.initialize("2024-11-05")
    old, new = talk.legacy_call(1), talk.call(2)

    assert set(talk.finish(old)[0]["result"]) == {"content", "isError"}
    assert set(talk.finish(new)[0]["result"]) == {
        "resultType",
        "content",
        "structuredContent",
        "isError",
        "_meta",
    }


def test_an_error_of_the_tool_is_a_result(talk: Any) -> None:
    events = talk.peer.finish(talk.call(), ToolOutcome(b'{"code":"busy"}', is_error=True))

    assert talk.values(events)[0]["result"]["isError"] is True


def test_a_call_that_cannot_be_served_after_all_is_an_error(talk: Any) -> None:
    error = RequestError(-32603, "Internal error", {"a": 1})
    call = talk.call(5)

    line = b'{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"Internal error","data":{"a":1}}}'
    assert [talk.peer.fail(call, error), talk.peer.fail(call, error)] == [[Send(line, -32603)], []]


def test_a_call_is_answered_once(talk: Any) -> None:
    call = talk.call()
    talk.finish(call)

    assert talk.finish(call) == []


def test_an_unknown_tool_is_an_error_of_the_request(talk: Any) -> None:
    (event,) = talk.modern("tools/call", 4, name="facts_measure_ftp")

    assert event.code == -32602
    assert json.loads(event.line)["error"] == {"code": -32602, "message": "Unknown tool: facts_measure_ftp"}


def test_one_and_the_text_one_are_two_calls(talk: Any) -> None:
    number, text = talk.call(1), talk.call("1")

    assert [talk.finish(text)[0]["id"], talk.finish(number)[0]["id"]] == ["1", 1]


@pytest.mark.parametrize("method", ["tools/call", "ping", "subscriptions/listen"])
def test_an_id_in_flight_is_refused(method: str, talk: Any) -> None:
    talk.call(1)
    talk.modern("subscriptions/listen", 2, notifications={})

    assert [talk.values(talk.ask(method, id_))[0]["error"] for id_ in (1, 2)] == [IN_USE, IN_USE]


def test_an_id_may_be_used_again_after_its_answer(talk: Any) -> None:
    talk.finish(talk.call(1))

    assert talk.call(1).key == 2


def test_a_cancelled_call_is_never_answered(talk: Any) -> None:
    call = talk.call(7, progressToken="t")

    assert talk.cancel(7) == [Cancel(call.key)]
    assert (talk.peer.progress(call, "m", 1), talk.finish(call), talk.peer.in_flight) == ([], [], 0)


def test_a_late_end_of_a_cancelled_call_does_not_answer_the_next_with_its_id(talk: Any) -> None:
    first = talk.call(7)
    talk.cancel(7)
    second = talk.call(7)

    assert talk.finish(first) == []
    assert talk.finish(second)[0]["id"] == 7


@pytest.mark.parametrize("id_", [8, "7", None, True, {}])
def test_a_cancellation_of_something_else_is_ignored(id_: Any, talk: Any) -> None:
    call = talk.call(7)

    assert talk.cancel(id_) == []
    assert len(talk.finish(call)) == 1


def test_a_cancellation_after_the_answer_is_ignored(talk: Any) -> None:
    talk.finish(talk.call(7))

    assert talk.cancel(7) == []


def test_progress_is_told_to_those_who_asked(talk: Any) -> None:
    call = talk.call(2, progressToken=0)

    assert call.progress
    assert talk.values(talk.peer.progress(call, "TLS handshake done", 0.5, 1)) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": 0, "progress": 0.5, "total": 1, "message": "TLS handshake done"},
        }
    ]


def test_progress_is_not_told_to_others(talk: Any) -> None:
    assert talk.peer.progress(talk.call(), "m", 1) == []


@pytest.mark.parametrize("value", [1, 0.5, math.nan, math.inf, -math.inf])
def test_progress_only_grows(value: float, talk: Any) -> None:
    call = talk.call(2, progressToken="t")
    talk.peer.progress(call, None, 1)

    assert talk.peer.progress(call, None, value) == []


def test_progress_ends_with_the_answer(talk: Any) -> None:
    call = talk.call(2, progressToken="t")
    talk.finish(call)

    assert talk.peer.progress(call, None, 1) == []


@pytest.mark.parametrize(("version", "message"), [("2024-11-05", None), ("2025-03-26", "m")])
def test_the_first_revision_knows_no_message_of_progress(version: str, message: Any, talk: Any) -> None:
    talk.initialize(version)
    call = talk.legacy_call(1, progressToken="t")

    assert talk.values(talk.peer.progress(call, "m", 1))[0]["params"].get("message") == message


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        (5, "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_revision(wanted: Any, agreed: str, talk: Any) -> None:
    assert talk.initialize(wanted) == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {
            "protocolVersion": agreed,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "facts-mcp", "version": "0.1.0"},
            "instructions": "Measure first.",
        },
    }
    assert talk.peer.negotiated == agreed


def test_a_second_handshake_loses_no_call(talk: Any) -> None:
    talk.initialize("2025-03-26")
    call = talk.legacy_call(1)
    talk.initialize("2025-11-25")

    assert set(talk.finish(call)[0]["result"]) == {"content", "isError"}


def test_nothing_is_negotiated_at_first(talk: Any) -> None:
    assert talk.peer.negotiated is None
    assert talk.values(talk.ask("tools/list"))[0]["error"]["code"] == -32602


def test_a_probe_then_a_handshake_on_the_same_pipe_both_work(talk: Any) -> None:
    (probe,) = talk.values(talk.modern("server/discover", "d"))
    talk.initialize("2025-11-25")
    (listed,) = talk.values(talk.ask("tools/list", 2))

    assert probe["result"]["supportedVersions"] == ["2026-07-28"]
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["facts_measure_http", "ingest"]


def test_a_cursor_is_refused(talk: Any) -> None:
    assert talk.values(talk.modern("tools/list", cursor="x"))[0]["error"] == {
        "code": -32602,
        "message": "Invalid cursor",
    }


def test_a_ping_is_always_answered(talk: Any) -> None:
    before = talk.values(talk.ask("ping", "p"))
    talk.initialize("2024-11-05")

    assert before + talk.values(talk.ask("ping", "p")) == [PONG, PONG]


def test_notifications_and_responses_are_never_answered(talk: Any) -> None:
    said = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "ingest"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {}},
    ]

    assert [talk.say(message) for message in said] == [[], [], [], []]


def test_what_cannot_be_read_is_answered_with_the_code_for_the_transport(talk: Any) -> None:
    (event,) = talk.peer.receive(b"NOT JSON")

    assert event == Send(b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}', -32700)


@pytest.mark.parametrize(("excerpt", "known"), [(b'{"id":3,"a":"', {"id": 3}), (b"???", {})])
def test_a_line_that_is_too_long_is_answered_with_its_id_if_it_shows(
    excerpt: bytes, known: dict[str, int], talk: Any
) -> None:
    error = {"code": -32600, "message": "A line has at most 4 MiB"}

    assert talk.values(talk.peer.oversize(excerpt)) == [{"jsonrpc": "2.0", **known, "error": error}]


def test_a_subscription_lives_until_the_close(talk: Any) -> None:
    (ack,) = talk.values(talk.modern("subscriptions/listen", 10, notifications={"toolsListChanged": True}))

    assert ack["params"]["notifications"] == {}
    assert [json.loads(line).get("id") for line in talk.peer.close()] == [10, None]
    assert talk.peer.close() == []


def test_a_cancelled_subscription_is_not_ended_again(talk: Any) -> None:
    talk.modern("subscriptions/listen", 10, notifications={})

    assert (talk.cancel(10), talk.peer.close()) == ([], [])


@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("batch", [[], [PING], [1]], ids=["empty", "a ping", "a number"])
def test_an_array_is_one_error_unless_its_revision_was_negotiated(
    version: Any, batch: Any, talk: Any
) -> None:
    if version:
        talk.initialize(version)

    assert talk.values(talk.say(batch)) == [NO_BATCH]


def test_an_array_is_answered_as_one_array_when_its_last_call_ends(talk: Any) -> None:
    talk.initialize("2025-03-26")
    call = {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "ingest"}}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    held, event, refused = talk.say([PING, note, call, 1])

    assert (held, refused) == (Held(), Held())
    ((pong, error, done),) = talk.finish(event)
    assert (pong, error["error"]["code"], done["id"]) == (PONG, -32600, "c")


def test_a_cancelled_call_leaves_its_array(talk: Any) -> None:
    talk.initialize("2025-03-26")
    calls = [
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": "ingest"}} for id_ in (1, 2)
    ]
    first, second = talk.say(calls)

    assert talk.peer.finish(first, ToolOutcome(b"{}", is_error=False)) == [Held()]
    cancelled, sent = talk.cancel(2)
    assert cancelled == Cancel(second.key)
    assert [answer["id"] for answer in json.loads(sent.line)] == [1]


def test_an_array_of_notifications_is_not_answered(talk: Any) -> None:
    talk.initialize("2025-03-26")

    assert talk.say([{"jsonrpc": "2.0", "method": "notifications/initialized"}]) == []


def test_an_empty_array_is_an_error(talk: Any) -> None:
    talk.initialize("2025-03-26")

    error = {"code": -32600, "message": "A batch must not be empty"}
    assert talk.values(talk.say([])) == [{"jsonrpc": "2.0", "error": error}]


def test_a_handshake_and_stateless_requests_are_refused_in_an_array(talk: Any) -> None:
    talk.initialize("2025-03-26")
    meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    modern = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": meta}

    (answers,) = talk.values(talk.say([opening, modern, PING]))
    error = {"code": -32600, "message": "This request must not be part of a batch"}
    assert answers == [
        {"jsonrpc": "2.0", "id": 1, "error": error},
        {"jsonrpc": "2.0", "id": 2, "error": error},
        PONG,
    ]
    assert talk.peer.negotiated == "2025-03-26"


def test_ten_thousand_pings_in_an_array_are_answered_in_one(talk: Any) -> None:
    talk.initialize("2025-03-26")

    (answers,) = talk.values(talk.say([PING] * 10_000))
    assert answers == [PONG] * 10_000
    (refused,) = talk.values(talk.say([PING] * 10_001))
    assert refused["error"] == {"code": -32600, "message": "A batch has at most 10000 messages"}


def test_another_conversation_shares_the_catalog_but_no_state(talk: Any) -> None:
    talk.call(1)
    other = Peer.offering(talk.peer.catalog, "2025-03-26")

    assert (other.catalog is talk.peer.catalog, other.negotiated, other.in_flight) == (True, "2025-03-26", 0)
    assert Peer.offering(talk.peer.catalog).negotiated is None
