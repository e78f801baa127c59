"""Connections: how many there may be, and how a refusal reads."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from app.transport.connections import LIMITS, Refused


def test_a_refusal_is_an_error_without_an_id_and_says_why() -> None:
    response = Refused(
        HTTPStatus.UNAUTHORIZED, "token", "A token is needed", WWW_Authenticate="Bearer"
    ).response

    assert (response.status, response.content_type, response.headers["WWW-Authenticate"]) == (
        401,
        "application/json",
        "Bearer",
    )
    assert json.loads(bytes(response.body or b"")) == {  # type: ignore[arg-type]  # it is bytes
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": "A token is needed", "data": {"reason": "token"}},
    }


def test_one_connection_too_many_is_closed_and_the_others_go_on(site: Callable[..., Any]) -> None:
    running = site(LIMITS._replace(connections=1))
    first = running.connect()
    first.connect()
    first.request("POST", "/mcp", b"{}", {"Content-Type": "application/json"})
    first.getresponse().read()
    with socket.create_connection(("127.0.0.1", running.port), 10) as second:
        assert second.recv(1) == b""
    first.request("POST", "/mcp", b"{}", {"Content-Type": "application/json"})

    assert first.getresponse().status == 400
    first.close()


def test_the_promised_limits_are_these() -> None:
    assert LIMITS[:3] == (4 * 1024 * 1024, 30.0, 60.0)
    assert (LIMITS.json_seconds, LIMITS.drain_seconds + LIMITS.end_seconds < 10) == (15.0, True)
