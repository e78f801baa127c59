"""A05 for WebSockets: a redirect of a handshake is a new target to judge, and the answer that sent us is kept."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("ws://169.254.169.254/", "never"),
        ("http://169.254.169.254/latest/meta-data/", "never"),
        ("ws://127.0.0.1:{tally}/", "not_listed"),
        ("http://[::ffff:127.0.0.1]:{tally}/", "not_listed"),
        ("ws://localhost:{here}/", "not_listed"),
        ("ftp://127.0.0.1/", "bad_scheme"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a05_the_forbidden_hop_of_a_websocket_is_refused_and_the_first_is_kept(
    measure_ws: Any, byte_server: Any, location: str, rule: str, status: int
) -> None:
    tally = byte_server([["hang"]])
    server = byte_server([["hang"]])
    there = location.format(tally=tally.port, here=server.port)
    head = f"HTTP/1.1 {status} X\r\nLocation: {there}\r\nX-Hop: one\r\nContent-Length: 0\r\n\r\n"
    server._script = [["read", head.encode(), "eof"]]

    outcome = measure_ws(
        server.url.replace("http", "ws"), allow=f"127.0.0.1:{server.port}", follow_redirects=True
    )

    redirect = outcome.data["redirect"]
    assert (outcome.ok, outcome.error, outcome.data["http_status"]) == (True, None, status)
    assert ["X-Hop", "one"] in outcome.data["headers"]
    assert (redirect["location"], redirect["followed"], redirect["refused_by"]["rule"]) == (
        there,
        False,
        rule,
    )
    assert (tally.connections, server.connections) == (0, 1)


def test_a05_secrets_of_a_handshake_stay_with_their_origin(measure_ws: Any, byte_server: Any) -> None:
    last = byte_server([["upgrade", b"\x88\x02\x03\xe8", "hang"]])
    first = byte_server([["read", f"HTTP/1.1 302 X\r\nLocation: {last.url}\r\n\r\n".encode(), "eof"]])

    data = measure_ws(
        first.url.replace("http", "ws"),
        follow_redirects=True,
        headers={"Authorization": "Bearer CANARY", "Origin": "http://a.test"},
    ).data

    assert data["hops"][0]["redirect"]["dropped_credentials"] == ["Authorization", "Origin"]
    assert b"CANARY" not in last.requests[0]
    assert b"Upgrade: websocket" in last.requests[0]


@pytest.mark.parametrize("arguments", [{"send": ["CANARY"]}, {"subprotocols": ["bearer.CANARY99"]}])
def test_a05_what_is_to_be_said_is_not_said_to_another_origin(
    measure_ws: Any, byte_server: Any, arguments: dict[str, Any]
) -> None:
    last = byte_server([["upgrade", "drain"]])
    first = byte_server([["read", f"HTTP/1.1 302 X\r\nLocation: {last.url}\r\n\r\n".encode(), "eof"]])

    outcome = measure_ws(first.url.replace("http", "ws"), follow_redirects=True, **arguments)

    refused_by = outcome.data["redirect"]["refused_by"]
    assert (refused_by["rule"], last.connections) == ("messages_to_another_origin", 0)
