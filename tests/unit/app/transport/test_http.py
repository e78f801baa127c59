"""Streamable HTTP as clients meet it: statuses, formats, sessions, cancellation, limits, the end."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from app.transport.connections import LIMITS

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
Start = Callable[..., Any]


def reason(answer: Any) -> str:
    """Why a request was refused before its message was read."""
    message = answer.message
    assert "id" not in message
    assert message["error"]["code"] == -32600
    return str(message["error"]["data"]["reason"])


def test_a_stateless_request_is_answered_as_json(site: Start) -> None:
    answer = site().modern("server/discover")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.message["result"]["supportedVersions"] == ["2026-07-28"]
    assert "Mcp-Session-Id" not in answer.headers


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_both_spellings_of_the_endpoint_are_served_without_a_redirect(site: Start, path: str) -> None:
    assert site().ask(PING, path=path).status == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Mcp-Method": "ping"}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
        ({"Mcp-Name": "facts_recall_query"}, -32020),
        ({"Mcp-Name": "=?base64?!?="}, -32020),
    ],
)
def test_headers_that_are_not_what_the_body_says_are_refused(
    site: Start, headers: dict[str, str], code: int
) -> None:
    named = {name.replace("-", "_"): value for name, value in headers.items()}
    answer = site().call("facts_recall_history", {"claim_id": "c_1"}, **named)

    assert (answer.status, answer.message["id"], answer.message["error"]["code"]) == (400, 1, code)


@pytest.mark.parametrize(
    ("method", "status", "code"), [("resources/list", 404, -32601), ("ping", 404, -32601)]
)
def test_a_method_that_is_not_of_this_revision_is_not_found(
    site: Start, method: str, status: int, code: int
) -> None:
    answer = site().modern(method)

    assert (answer.status, answer.message["error"]["code"]) == (status, code)


def test_a_revision_that_is_not_served_says_which_are(site: Start) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    answer = site().modern("tools/list", {"_meta": meta}, MCP_Protocol_Version="2099-01-01")

    assert (answer.status, answer.message["error"]["code"]) == (400, -32022)
    assert answer.message["error"]["data"]["supported"] == ["2026-07-28"]


def test_progress_makes_a_stream_that_ends_with_the_answer(site: Start, byte_server: Any) -> None:
    target = byte_server([["read", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "eof"]])
    params = {
        "name": "facts_measure_http",
        "arguments": {"project": "p", "url": target.url},
        "_meta": {"progressToken": "t"},
    }
    answer = site().modern("tools/call", params)

    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert {each["method"] for each in answer.messages[:-1]} == {"notifications/progress"}
    assert answer.message["result"]["structuredContent"]["ok"] is True


def test_a_client_that_takes_no_stream_gets_the_answer_alone(site: Start, byte_server: Any) -> None:
    target = byte_server([["read", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "eof"]])
    params = {
        "name": "facts_measure_http",
        "arguments": {"project": "p", "url": target.url},
        "_meta": {"progressToken": "t"},
    }
    answer = site().modern("tools/call", params, Accept="application/json")

    assert answer.headers["Content-Type"] == "application/json"
    assert answer.message["result"]["structuredContent"]["ok"] is True


def test_an_answer_that_takes_long_becomes_a_stream_with_signs_of_life(site: Start, byte_server: Any) -> None:
    limits = LIMITS._replace(json_seconds=0.05, keep_alive_seconds=0.05)
    target = byte_server([["read", ("wait", 0.5), b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "eof"]])
    answer = site(limits).call("facts_measure_http", {"url": target.url})

    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.body.count(b": still at work\n\n") > 1
    assert answer.message["result"]["structuredContent"]["ok"] is True


def test_a_client_that_takes_only_streams_gets_one(site: Start) -> None:
    answer = site().modern("tools/list", Accept="text/event-stream")

    assert answer.headers["Content-Type"] == "text/event-stream"
    assert len(answer.message["result"]["tools"]) > 3


def test_a_subscription_is_acknowledged_and_ends_with_a_result_when_the_server_goes(site: Start) -> None:
    running = site()
    connection = running.connect()
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    request = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": {}},
    }
    headers = {
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
    }
    connection.request("POST", "/mcp", json.dumps(request), headers)
    response = connection.getresponse()
    first = response.readline() + response.readline()
    running.run(running.server.close())
    rest = response.read()
    connection.close()

    assert b"notifications/subscriptions/acknowledged" in first
    assert b'"id":7,"result":' in rest
    assert b"notifications/cancelled" not in rest


def test_a_lost_connection_cancels_a_stateless_call(site: Start, byte_server: Any, tmp_path: Any) -> None:
    target, running = byte_server(["hang"]), site()
    lines = lost(running, target, modern=True)

    running.close()
    (line,) = observations(tmp_path)
    assert lines == []
    assert json.loads(line)["error"]["code"] == "cancelled"


def test_a_lost_connection_does_not_cancel_a_call_of_the_older_era(
    site: Start, byte_server: Any, tmp_path: Any
) -> None:
    target = byte_server([["read", ("wait", 0.5), b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "eof"]])
    running = site()
    lost(running, target, modern=False)

    running.close()
    (line,) = observations(tmp_path)
    assert json.loads(line)["ok"] is True


def test_a_call_that_nobody_waits_for_does_not_hold_up_the_end(
    site: Start, byte_server: Any, tmp_path: Any
) -> None:
    target, running = byte_server(["hang"]), site(LIMITS._replace(drain_seconds=0.1))
    lost(running, target, modern=False)

    running.run(running.server.close(), seconds=8)
    running.close()
    (line,) = observations(tmp_path)
    assert json.loads(line)["error"]["code"] == "cancelled"


def lost(running: Any, target: Any, *, modern: bool) -> list[bytes]:
    """Call, wait until the target is asked, and close the connection without reading."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {"name": "facts_measure_http", "arguments": {"project": "p", "url": target.url}}
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {**params, "_meta": meta} if modern else params,
        }
    )
    headers = {"Content-Type": "application/json"}
    if modern:
        headers |= {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "facts_measure_http",
        }
    connection = running.connect()
    connection.request("POST", "/mcp", body, headers)
    target.wait_for_connection()
    connection.close()
    return []


def observations(tmp_path: Any) -> list[bytes]:
    return list((tmp_path / "data/projects/p/logs/observations.jsonl").read_bytes().splitlines())


def test_a_session_of_the_older_era_goes_from_its_beginning_to_its_end(site: Start) -> None:
    running = site()
    opened = running.legacy("initialize", HELLO)
    name = opened.headers["Mcp-Session-Id"]
    listed = running.legacy("tools/list", Mcp_Session_Id=name)
    ended = running.ask(method="DELETE", headers={"Mcp-Session-Id": name})
    late = running.legacy("tools/list", Mcp_Session_Id=name)
    twice = running.ask(method="DELETE", headers={"Mcp-Session-Id": name})

    assert (opened.message["result"]["protocolVersion"], len(name) >= 32) == ("2025-11-25", True)
    assert (listed.status, "resultType" in listed.message["result"]) == (200, False)
    assert [ended.status, late.status, twice.status] == [204, 404, 404]
    assert reason(late) == "session"


def test_the_oldest_idle_session_makes_room(site: Start) -> None:
    running = site(LIMITS._replace(sessions=2))
    first, second = (running.legacy("initialize", HELLO).headers["Mcp-Session-Id"] for _ in range(2))
    running.legacy("ping", Mcp_Session_Id=first)
    running.legacy("initialize", HELLO)

    assert [running.legacy("ping", Mcp_Session_Id=name).status for name in (first, second)] == [200, 404]


def test_a_call_of_a_session_is_cancelled_by_a_notification(
    site: Start, byte_server: Any, tmp_path: Any
) -> None:
    target, running = byte_server(["hang"]), site()
    name = running.legacy("initialize", HELLO).headers["Mcp-Session-Id"]
    params = {"name": "facts_measure_http", "arguments": {"project": "p", "url": target.url}}
    answers: list[Any] = []
    caller = threading.Thread(
        target=lambda: answers.append(running.legacy("tools/call", params, id_="x", Mcp_Session_Id=name))
    )
    caller.start()
    target.wait_for_connection()
    told = running.ask(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}},
        {"Mcp-Session-Id": name},
    )
    caller.join(10)

    assert (told.status, told.body, answers[0].status, answers[0].body) == (202, b"", 202, b"")


@pytest.mark.parametrize(
    ("version", "served"), [("2025-03-26", True), (None, True), ("2025-06-18", False), ("2025-11-25", False)]
)
def test_a_batch_is_served_where_its_revision_knows_batches(
    site: Start, version: str | None, *, served: bool
) -> None:
    headers = {} if version is None else {"MCP-Protocol-Version": version}
    answer = site().ask([PING, {**PING, "id": 2}], headers)

    if served:
        assert sorted(each["id"] for each in json.loads(answer.body)) == [1, 2]
    else:
        assert (answer.status, answer.message["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    "body",
    [{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}],
)
def test_what_wants_no_answer_is_accepted(site: Start, body: Any) -> None:
    answer = site().ask(body)

    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("version", ["2099-01-01", "", "nonsense"])
def test_a_version_that_is_not_known_is_refused_after_initialize_and_passed_over_in_it(
    site: Start, version: str
) -> None:
    running = site()
    late = running.legacy("tools/list", MCP_Protocol_Version=version)
    first = running.legacy("initialize", HELLO, MCP_Protocol_Version=version)

    assert (late.status, late.message["error"]["code"], first.status) == (400, -32600, 200)


@pytest.mark.parametrize(
    ("headers", "status", "why"),
    [
        ({"Content-Type": "text/plain"}, 415, "content_type"),
        ({"Content-Type": "application/json;charset=utf-16"}, 415, "content_type"),
        ({"Content-Encoding": "gzip"}, 415, "content_encoding"),
        ({"Accept": "text/plain"}, 406, "accept"),
        ({"Accept": "application/json;q=0"}, 406, "accept"),
        ({"Host": "evil.test"}, 421, "host"),
        ({"Host": "127.0.0.1:80.evil.test"}, 421, "host"),
        ({"Origin": "https://evil.test"}, 403, "origin"),
        ({"Origin": "null"}, 403, "origin"),
        ({"Mcp-Session-Id": "none"}, 404, "session"),
    ],
)
def test_what_is_refused_is_refused_in_json_and_says_why(
    site: Start, headers: dict[str, str], status: int, why: str
) -> None:
    answer = site().ask(PING, headers)

    assert (answer.status, reason(answer)) == (status, why)
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_not_allowed(site: Start, method: str) -> None:
    answer = site().ask(method=method)

    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def test_other_paths_are_not_found(site: Start) -> None:
    assert reason(site().ask(PING, path="/other")) == "not_found"


def test_a_body_that_is_too_long_is_refused(site: Start) -> None:
    running = site(LIMITS._replace(body_bytes=100))

    assert running.ask(json.dumps(PING).encode().ljust(100)).status == 200
    assert reason(running.ask(json.dumps(PING).encode().ljust(101))) == "body_too_large"


def test_a_body_that_does_not_come_is_not_waited_for(site: Start) -> None:
    running = site(LIMITS._replace(body_seconds=0.1))
    answer = raw(running, b"Content-Length: 10\r\nContent-Type: application/json\r\n\r\nx")

    assert b"408" in answer.split(b"\r\n")[0]
    assert b"body_too_slow" in answer


def test_a_connection_without_a_request_is_closed(site: Start) -> None:
    running = site(LIMITS._replace(idle_seconds=0.2))
    with socket.create_connection(("127.0.0.1", running.port), 10) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: lo")

        assert connection.recv(100) == b""


@pytest.mark.parametrize("more", [b"", b"Host: localhost\r\nHost: localhost\r\n"])
def test_no_host_and_two_hosts_are_refused(site: Start, more: bytes) -> None:
    answer = raw(site(), more + b"Content-Length: 0\r\n\r\n", host=b"")

    assert answer.split(b" ")[1] in (b"400", b"421")


def test_a_request_line_with_another_host_is_refused(site: Start) -> None:
    answer = raw(site(), b"Content-Length: 0\r\n\r\n", line=b"POST http://evil.test/mcp HTTP/1.1\r\n")

    assert answer.split(b" ")[1] == b"421"


@pytest.mark.parametrize("line", [b"NONSENSE\r\n", b"POST /mcp HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n"])
def test_what_is_no_http_is_refused_in_json(site: Start, line: bytes) -> None:
    answer = raw(site(), b"\r\n", line=line)

    assert answer.split(b" ")[1] == b"400"
    assert b'"reason":"http"' in answer


def raw(
    running: Any, rest: bytes, line: bytes = b"POST /mcp HTTP/1.1\r\n", host: bytes = b"Host: localhost\r\n"
) -> bytes:
    """What is answered to these bytes until the connection is closed, or enough has come."""
    with socket.create_connection(("127.0.0.1", running.port), 10) as connection:
        connection.sendall(line + host + b"Connection: close\r\n" + rest)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def test_more_requests_at_once_than_a_caller_may_have_are_refused(site: Start, byte_server: Any) -> None:
    target, running = byte_server(["hang"]), site(LIMITS._replace(calls_of_a_caller=1))
    connection = running.connect()
    params = {"name": "facts_measure_http", "arguments": {"project": "p", "url": target.url}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
    target.wait_for_connection()
    answer = running.ask(PING)
    connection.close()

    assert (answer.status, reason(answer), answer.headers["Retry-After"]) == (429, "too_many_requests", "1")


def test_a_call_that_nobody_waits_for_still_counts(site: Start, byte_server: Any) -> None:
    target, running = byte_server(["hang"]), site(LIMITS._replace(calls_of_a_caller=1, drain_seconds=0.1))
    lost(running, target, modern=False)
    while not running.server._left:
        pass
    answer = running.ask(PING)

    assert (answer.status, reason(answer)) == (429, "too_many_requests")


def test_tokens_say_who_may_call_what(site: Start, tmp_path: Any) -> None:
    file = tmp_path / "tokens"
    file.write_text("anna recall anna-has-this-token\nbob read bob-has-another-token\n")
    running = site(PLINTH_FACTS_TOKEN_FILE=str(file), PLINTH_FACTS_OBSERVED_BY="caller")
    none, wrong = running.ask(PING), running.ask(PING, {"Authorization": "Bearer no-such-token-here"})
    anna, bob = (
        {"Authorization": f"Bearer {token}"} for token in ("anna-has-this-token", "bob-has-another-token")
    )
    names = [
        [tool["name"] for tool in running.modern("tools/list", **each).message["result"]["tools"]]
        for each in (anna, bob)
    ]
    claim = running.call("facts_recall_assert", {"statement": "a", "observed_by": "bob"}, **anna)
    denied = running.call("facts_recall_assert", {"statement": "b", "observed_by": "bob"}, **bob)

    assert (none.status, wrong.status) == (401, 401)
    assert none.headers["WWW-Authenticate"] == 'Bearer realm="facts-mcp"'
    assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]
    assert names[0] == [f"facts_recall_{name}" for name in ("assert", "retract", "query", "history")]
    assert names[1] == ["facts_measure_http", "facts_recall_query", "facts_recall_history"]
    assert claim.message["result"]["structuredContent"]["observed_by"] == "anna"
    assert denied.message["error"]["code"] == -32602


def test_a_session_belongs_to_whoever_opened_it(site: Start, tmp_path: Any) -> None:
    file = tmp_path / "tokens"
    file.write_text("anna recall anna-has-this-token\nbob recall bob-has-another-token\n")
    running = site(PLINTH_FACTS_TOKEN_FILE=str(file))
    name = running.legacy("initialize", HELLO, Authorization="Bearer anna-has-this-token").headers[
        "Mcp-Session-Id"
    ]
    theirs, own = (
        running.legacy("ping", Mcp_Session_Id=name, Authorization=f"Bearer {token}")
        for token in ("bob-has-another-token", "anna-has-this-token")
    )

    assert (theirs.status, own.status) == (404, 200)
