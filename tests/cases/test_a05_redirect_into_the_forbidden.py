"""A05: every redirect is judged as a new target, and the answer that sent us there is kept."""

from __future__ import annotations

from typing import Any

import pytest


def moved(location: str, status: int = 302) -> list[list[Any]]:
    head = f"HTTP/1.1 {status} X\r\nLocation: {location}\r\nX-Hop: one\r\nContent-Length: 0\r\n\r\n"
    return [["read", head.encode(), "eof"]]


@pytest.mark.parametrize(
    ("location", "address_class", "rule"),
    [
        ("http://169.254.169.254/latest/meta-data/", "metadata", "never"),
        ("http://127.0.0.1:{tally}/", "loopback", "not_listed"),
        ("http://[::ffff:127.0.0.1]:{tally}/", "loopback", "not_listed"),
        ("//127.0.0.1:{tally}/", "loopback", "not_listed"),
        ("http://localhost:{here}/", None, "not_listed"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a05_the_forbidden_hop_is_refused_and_the_first_is_kept(
    measure_http: Any, byte_server: Any, location: str, address_class: str | None, rule: str, status: int
) -> None:
    tally = byte_server([["hang"]])
    server = byte_server([["hang"]])
    there = location.format(tally=tally.port, here=server.port)
    server._script = moved(there, status)

    outcome = measure_http(server.url, allow=f"127.0.0.1:{server.port}", follow_redirects=True)

    redirect = outcome.data["redirect"]
    assert (outcome.ok, outcome.error, outcome.data["http_status"]) == (True, None, status)
    assert ["X-Hop", "one"] in outcome.data["headers"]
    assert (redirect["location"], redirect["followed"]) == (there, False)
    assert (redirect["refused_by"]["class"], redirect["refused_by"]["rule"]) == (address_class, rule)
    assert redirect["refused_by"]["url"] == redirect["resolved"]
    assert (tally.connections, server.connections) == (0, 1)


def test_a05_a_refresh_header_is_reported_and_not_followed(measure_http: Any, byte_server: Any) -> None:
    server = byte_server(
        [["read", b"HTTP/1.1 200 OK\r\nRefresh: 0; url=/next\r\nContent-Length: 0\r\n\r\n", "eof"]]
    )

    data = measure_http(server.url, follow_redirects=True).data

    assert (data["redirect"], data["headers"][0]) == (None, ["Refresh", "0; url=/next"])
    assert server.connections == 1
