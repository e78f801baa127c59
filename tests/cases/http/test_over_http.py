"""B04, B05, B07 to B12 and D01 over HTTP: what went wrong elsewhere, held against the endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

Start = Callable[..., Any]
HELLO = {"capabilities": {"x": {"y": 1}}, "clientInfo": {"name": "t", "version": "1"}, "extra": 1}
PING = {"jsonrpc": "2.0", "method": "ping"}
LIMIT = 4 * 1024 * 1024


def asserting(size: int) -> bytes:
    """A call that asserts a claim with a long note, of exactly so many bytes."""
    note = {"type": "note", "text": ""}
    claim = {
        "project": "p",
        "statement": f"a claim of {size} bytes",
        "observed_by": "anna",
        "evidence": [note],
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "facts_recall_assert"}}
    request["params"] |= {"arguments": claim}  # type: ignore[operator]  # it is a dict
    note["text"] = "x" * (size - len(json.dumps(request)))
    return json.dumps(request).encode()


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 200_000, LIMIT - 1, LIMIT])
def test_b04_a_claim_of_any_size_up_to_the_limit_is_stored(site: Start, size: int) -> None:
    answer = site().ask(asserting(size))

    assert json.loads(answer.message["result"]["content"][0]["text"])["created"] is True


def test_b04_one_byte_more_is_one_error_and_the_next_request_works(site: Start) -> None:
    running = site()
    over = running.ask(asserting(LIMIT + 1))

    assert (over.status, over.message["error"]["data"]["reason"]) == (413, "body_too_large")
    assert running.ask({**PING, "id": 1}).status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"\xff\xfe\n", -32700),
        (b"NOT JSON", -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\xff"}}', -32700),
        (b"", -32700),
        (b"   ", -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16-le"), -32700),
        (b"null", -32600),
        (b'"x"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    ],
)
def test_b05_garbage_is_one_typed_error_and_the_server_lives(site: Start, body: bytes, code: int) -> None:
    running = site()
    answer = running.ask(body)

    assert (answer.status, answer.message["error"]["code"]) == (400, code)
    assert running.ask({**PING, "id": 2}).message == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("id_", [0, -1, 9007199254740993, "1", "", "0", "\u00e9\0", "x" * 100_000])
def test_b07_ids_come_back_unchanged(site: Start, id_: Any) -> None:
    answer = site().ask({**PING, "id": id_})

    assert json.dumps(answer.message["id"]) == json.dumps(id_)


@pytest.mark.parametrize("id_", [None, True, {}, [1], 1.5])
def test_b07_what_is_no_id_is_refused_and_never_accepted_in_silence(site: Start, id_: Any) -> None:
    answer = site().ask({**PING, "id": id_})

    assert (answer.status, answer.message["error"]["code"], "id" in answer.message) == (400, -32600, False)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18"])
@pytest.mark.parametrize(
    "batch",
    [[], [PING | {"id": 1}], [PING | {"id": 1}, PING | {"id": 2}], [{"jsonrpc": "2.0", "method": "n"}], [1]],
)
def test_b08_a_batch_is_served_or_refused_as_a_whole(site: Start, version: str, batch: list[Any]) -> None:
    answer = site().ask(batch, {"MCP-Protocol-Version": version})

    served = version == "2025-03-26" and batch != []
    if served and batch == [{"jsonrpc": "2.0", "method": "n"}]:
        assert (answer.status, answer.body) == (202, b"")
    elif served:
        assert len(json.loads(answer.body)) == len(batch)
    else:
        assert answer.message["error"]["code"] == -32600


def test_b08_no_claim_of_a_refused_batch_is_stored(site: Start) -> None:
    running = site()
    running.ask([json.loads(asserting(1000))], {"MCP-Protocol-Version": "2025-06-18"})

    assert running.call("facts_recall_query", {}).message["result"]["structuredContent"]["matched"] == 0


def test_b09_slow_calls_hold_up_nobody(site: Start, byte_server: Any) -> None:
    running, slow = site(), byte_server(["hang"])
    params = {
        "name": "facts_measure_http",
        "arguments": {"project": "p", "url": slow.url, "timeout_ms": 3000},
    }
    callers = [
        threading.Thread(target=running.legacy, args=("tools/call", params, number)) for number in range(20)
    ]
    for caller in callers:
        caller.start()
    slow.wait_for_connection()
    ping = running.ask({**PING, "id": 1})
    claim = running.ask(asserting(500))
    is_waiting = all(caller.is_alive() for caller in callers)
    for caller in callers:
        caller.join(30)

    assert (ping.status, claim.message["result"]["isError"], is_waiting) == (200, False, True)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
        (None, "2025-11-25"),
        (7, "2025-11-25"),
    ],
)
def test_b10_initialize_is_always_answered_with_a_version_that_is_served(
    site: Start, asked: Any, told: str
) -> None:
    answer = site().legacy(
        "initialize", {**HELLO, "protocolVersion": asked}, MCP_Protocol_Version="2099-01-01"
    )

    assert (answer.status, answer.message["result"]["protocolVersion"]) == (200, told)


def test_b10_a_second_initialize_does_not_end_the_first_session(site: Start) -> None:
    running = site()
    names = [running.legacy("initialize", HELLO).headers["Mcp-Session-Id"] for _ in range(2)]

    assert [running.legacy("ping", Mcp_Session_Id=name).status for name in names] == [200, 200]


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 200),
        ("text/event-stream", 200),
        ("application/json;q=0, text/event-stream", 200),
        ("APPLICATION/JSON", 200),
        ("text/plain", 406),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_b11_accept_is_read_as_it_is_meant(site: Start, accept: str, status: int, path: str) -> None:
    answer = site().ask({**PING, "id": 1}, {"Accept": accept}, path=path)

    assert answer.status == status
    assert answer.messages


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=utf-16", 415),
        ("text/plain", 415),
        ("application/jsonrpc", 415),
        ("application/x-www-form-urlencoded", 415),
    ],
)
def test_b11_what_a_web_page_could_send_is_refused(site: Start, kind: str, status: int) -> None:
    answer = site().ask({**PING, "id": 1}, {"Content-Type": kind})

    assert answer.status == status
    assert answer.messages


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.test"}, 421),
        ({"Host": "127.0.0.1:8000@evil"}, 421),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:8000.evil.test"}, 403),
    ],
)
def test_b12_a_foreign_host_or_page_is_refused_before_anything_else(
    site: Start, tmp_path: Any, method: str, headers: dict[str, str], status: int
) -> None:
    (tmp_path / "tokens").write_text("anna read anna-has-this-token\n")
    running = site(PLINTH_FACTS_TOKEN_FILE=str(tmp_path / "tokens"))
    answer = running.ask(b"no json", headers, method)

    assert answer.status == status
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("host", ["facts.example", "facts.example:8000"])
def test_b12_a_listed_name_behind_a_proxy_is_served(site: Start, host: str) -> None:
    running = site(PLINTH_FACTS_HOSTS="facts.example", PLINTH_FACTS_ORIGINS="https://console.example")

    assert running.ask({**PING, "id": 1}, {"Host": host, "Origin": "https://console.example"}).status == 200


def test_d01_many_writes_at_once_over_many_sessions(site: Start, tmp_path: Any) -> None:
    running = site()
    names = [running.legacy("initialize", HELLO).headers["Mcp-Session-Id"] for _ in range(20)]

    def claim(number: int) -> str:
        arguments = {
            "project": "p",
            "statement": f"claim {number} \u20ac " + "\u00fc" * (number * 37 % 3000),
            "observed_by": "anna",
        }
        params = {"name": "facts_recall_assert", "arguments": arguments}
        answer = running.legacy("tools/call", params, number, Mcp_Session_Id=names[number % 20])
        return str(json.loads(answer.message["result"]["content"][0]["text"])["claim_id"])

    with ThreadPoolExecutor(20) as pool:
        told = list(pool.map(claim, range(200)))

    lines = (tmp_path / "data/projects/p/logs/claims.jsonl").read_bytes().splitlines()
    stored = [json.loads(line)["id"] for line in lines]
    assert (len(stored), set(stored), stored) == (200, set(told), sorted(stored))
