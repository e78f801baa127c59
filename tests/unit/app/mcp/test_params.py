"""The parameters of the methods."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import RequestError
from app.mcp.jsonrpc import Request
from app.mcp.params import CallParams, call_params, cancelled_id, check_listen, refuse_cursor

MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({}, "params.name must be a string"),
    "a name that is a number": ({"name": 1}, "params.name must be a string"),
    "arguments in an array": ({"name": "a", "arguments": []}, "params.arguments must be an object"),
    "arguments that are text": ({"name": "a", "arguments": "{}"}, "params.arguments must be an object"),
    "a token that is a boolean": (
        {"name": "a", "_meta": {"progressToken": True}},
        "params._meta.progressToken must be a string or an integer",
    ),
    "a token that is a fraction": (
        {"name": "a", "_meta": {"progressToken": 1.5}},
        "params._meta.progressToken must be a string or an integer",
    ),
}


def call(params: dict[str, Any]) -> CallParams:
    return call_params(Request(1, "tools/call", params))


@pytest.mark.parametrize("params", [{"name": "a"}, {"name": "a", "arguments": None}])
def test_missing_arguments_are_none(params: dict[str, Any]) -> None:
    assert call(params) == CallParams("a", {}, None, None, None, None)


def test_arguments_token_and_trace_are_taken() -> None:
    trace = {"traceparent": "00-1-2-01", "tracestate": "a=b", "baggage": "c=d"}
    params = call({"name": "a", "arguments": {"b": 1}, "_meta": {"progressToken": 0, **trace}, "task": {}})

    assert params == CallParams("a", {"b": 1}, 0, "00-1-2-01", "a=b", "c=d")


@pytest.mark.parametrize("value", [5, None, "x" * 8193])
def test_a_trace_that_is_odd_or_long_is_left_out(value: Any) -> None:
    assert call({"name": "a", "_meta": {"traceparent": value}}).trace is None


@pytest.mark.parametrize(("params", "message"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_call_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refused:
        call(params)

    assert (refused.value.code, refused.value.message) == (-32602, message)


@pytest.mark.parametrize("cursor", ["", "x", 0, {}])
def test_every_cursor_is_invalid(cursor: Any) -> None:
    with pytest.raises(RequestError, match="Invalid cursor") as refused:
        refuse_cursor(Request(1, "tools/list", {"cursor": cursor}))

    assert refused.value.code == -32602


@pytest.mark.parametrize("params", [{}, {"cursor": None}])
def test_no_cursor_is_fine(params: dict[str, Any]) -> None:
    refuse_cursor(Request(1, "tools/list", params))


@pytest.mark.parametrize("params", [{}, {"notifications": []}, {"notifications": None}])
def test_a_subscription_must_say_to_what(params: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=r"params\.notifications must be an object") as refused:
        check_listen(Request(1, "subscriptions/listen", params))

    assert refused.value.code == -32602


def test_a_subscription_to_nothing_is_fine() -> None:
    check_listen(Request(1, "subscriptions/listen", {"notifications": {}}))


@pytest.mark.parametrize("id_", [0, "", "a", 2**70])
def test_a_cancellation_names_a_request(id_: Any) -> None:
    assert cancelled_id({"requestId": id_}) == id_


@pytest.mark.parametrize("params", [{}, {"requestId": True}, {"requestId": 1.0}, {"requestId": None}])
def test_a_malformed_cancellation_names_none(params: dict[str, Any]) -> None:
    assert cancelled_id(params) is None
