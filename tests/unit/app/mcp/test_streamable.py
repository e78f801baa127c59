"""The headers of Streamable HTTP beside the message that they repeat."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from app.errors import RequestError
from app.mcp.jsonrpc import Array, Invalid, Notification, Request
from app.mcp.revisions import load
from app.mcp.streamable import Route, accepts, event, is_json, route, status

REVISIONS = load()
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
MODERN = Route(None, modern=True)


def headers(**values: str | list[str]) -> dict[str, list[str]]:
    return {
        name.replace("_", "-"): [value] if isinstance(value, str) else value for name, value in values.items()
    }


def call(name: Any = "facts_measure_http", **meta: Any) -> Request:
    return Request(1, "tools/call", {"name": name, "_meta": {**META, **meta}})


GOOD = headers(mcp_protocol_version="2026-07-28", mcp_method="tools/call", mcp_name="facts_measure_http")


def test_headers_that_say_what_the_body_says_pass() -> None:
    assert route(call(), GOOD, "2025-11-25", REVISIONS) == MODERN
    assert route(call(), {**GOOD, "mcp-name": [" \tfacts_measure_http "]}, None, REVISIONS) == MODERN


@pytest.mark.parametrize("name", ["ü", "=?base64?eA==?=", "with space"])
def test_a_name_may_come_as_base64(name: str) -> None:
    told = {**GOOD, "mcp-name": [f"=?base64?{b64encode(name.encode()).decode()}?="]}

    assert route(call(name), told, None, REVISIONS) == MODERN


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"mcp-protocol-version": []}, "MCP-Protocol-Version: expected once, and it is there 0 times"),
        (
            {"mcp-protocol-version": ["2026-07-28"] * 2},
            "MCP-Protocol-Version: expected once, and it is there 2 times",
        ),
        ({"mcp-protocol-version": ["2025-11-25"]}, "MCP-Protocol-Version: it is not what the body says"),
        ({"mcp-method": ["Tools/call"]}, "Mcp-Method: it is not what the body says"),
        ({"mcp-method": []}, "Mcp-Method: expected once, and it is there 0 times"),
        ({"mcp-name": []}, "Mcp-Name: expected once, and it is there 0 times"),
        ({"mcp-name": ["other"]}, "Mcp-Name: it is not what the body says"),
        ({"mcp-name": ["=?base64?x?="]}, "Mcp-Name: it is no base64 of UTF-8"),
        ({"mcp-name": ["=?base64?/w==?="]}, "Mcp-Name: it is no base64 of UTF-8"),
    ],
)
def test_headers_that_say_something_else_are_a_mismatch(change: dict[str, list[str]], why: str) -> None:
    with pytest.raises(RequestError) as refused:
        route(call(), {**GOOD, **change}, None, REVISIONS)

    assert (refused.value.code, refused.value.message) == (-32020, why)


def test_what_the_body_has_wrong_is_told_by_whoever_reads_it() -> None:
    told = headers(mcp_method="tools/call")
    request = Request(1, "tools/call", {"_meta": {"io.modelcontextprotocol/protocolVersion": 7}})

    assert route(request, told, None, REVISIONS) == MODERN


@pytest.mark.parametrize(
    ("values", "session", "served"),
    [
        ({}, None, Route("2025-03-26", modern=False)),
        ({}, "2025-06-18", Route("2025-06-18", modern=False)),
        ({"mcp_protocol_version": "2025-11-25"}, None, Route("2025-11-25", modern=False)),
        ({"mcp_protocol_version": "2025-11-25"}, "2025-06-18", Route("2025-06-18", modern=False)),
        ({"mcp_protocol_version": "2026-07-28"}, None, MODERN),
    ],
)
def test_the_older_era_is_served_by_session_or_header(
    values: dict[str, str], session: str | None, served: Route
) -> None:
    for message in (Request(1, "ping", {}), Array(()), Invalid(None, -32700, "x"), Notification("n", {})):
        assert route(message, headers(**values), session, REVISIONS) == served


@pytest.mark.parametrize("value", ["9999-01-01", "", ["2025-11-25", "2025-11-25"]])
def test_a_version_that_is_not_served_is_refused_but_not_for_initialize(value: str | list[str]) -> None:
    told = headers(mcp_protocol_version=value)
    with pytest.raises(RequestError) as refused:
        route(Request(1, "ping", {}), told, None, REVISIONS)

    assert refused.value.code == -32600
    assert "2025-11-25" in refused.value.data["supported"]
    assert route(Request(1, "initialize", {}), told, None, REVISIONS) == Route(None, modern=False)


def test_a_notification_may_name_its_method_but_no_other() -> None:
    message = Notification("notifications/cancelled", {})

    assert not route(message, headers(mcp_method="notifications/cancelled"), None, REVISIONS).modern
    with pytest.raises(RequestError):
        route(message, headers(mcp_method="ping"), None, REVISIONS)


@pytest.mark.parametrize(
    ("code", "modern", "legacy"),
    [
        (None, 200, 200),
        (-32700, 400, 400),
        (-32601, 404, 200),
        (-32602, 400, 200),
        (-32020, 400, 200),
        (-32603, 200, 200),
    ],
)
def test_errors_have_the_status_of_their_era(code: int | None, modern: int, legacy: int) -> None:
    assert (status(code, MODERN), status(code, Route("2025-11-25", modern=False))) == (modern, legacy)


@pytest.mark.parametrize(
    ("values", "json", "stream"),
    [
        ([], True, True),
        (["*/*"], True, True),
        (["application/*, text/*"], True, True),
        (["application/json"], True, False),
        (["text/event-stream"], False, True),
        (["application/json;q=0, text/event-stream"], False, True),
        (["application/json;q=0, */*"], False, True),
        (["APPLICATION/JSON"], True, False),
        (["text/plain"], False, False),
        (["application/json", "text/event-stream"], True, True),
        (["application/json;q=nonsense"], False, False),
    ],
)
def test_what_a_client_accepts(values: list[str], json: bool, stream: bool) -> None:  # noqa: FBT001 - columns
    assert (accepts(values, "application/json"), accepts(values, "text/event-stream")) == (json, stream)


@pytest.mark.parametrize(
    ("values", "right"),
    [
        (["application/json"], True),
        (["Application/JSON; charset=UTF-8"], True),
        (['application/json;charset="utf-8"'], True),
        (["application/json;charset=utf-16"], False),
        (["text/plain"], False),
        (["application/jsonrpc"], False),
        ([], False),
        (["application/json", "application/json"], False),
    ],
)
def test_only_json_in_utf_8_is_taken(values: list[str], right: bool) -> None:  # noqa: FBT001 - a column
    assert is_json(values) is right


def test_a_line_is_one_event() -> None:
    assert event(b'{"a":1}') == b'event: message\ndata: {"a":1}\n\n'
