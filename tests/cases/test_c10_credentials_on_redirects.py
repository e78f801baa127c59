"""C10: what was given to one origin is not sent to another, and does not come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SECRETS = {"Authorization": "Bearer CANARY", "Cookie": "a=CANARY", "X-Api-Key": "CANARY"}
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def moved(location: str) -> list[Any]:
    return ["read", f"HTTP/1.1 302 X\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode(), "eof"]


def has_secrets(requests: list[bytes]) -> list[bool]:
    return [b"CANARY" in request for request in requests]


def test_c10_the_same_origin_keeps_them(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([moved("/next"), ["read", OK, "eof"]])

    data = measure_http(server.url, headers=SECRETS, follow_redirects=True).data

    assert [request.count(b"CANARY") for request in server.requests] == [3, 3]
    assert data["hops"][0]["redirect"]["dropped_credentials"] == []
    assert "CANARY" not in str(data)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_c10_another_port_or_name_gets_none_and_nor_does_the_way_back(
    measure_http: Any, byte_server: Any, host: str
) -> None:
    home = byte_server([moved("http://placeholder/")])
    other = byte_server([moved(f"{home.url}back")])
    home._script = [moved(f"http://{host}:{other.port}/"), ["read", OK, "eof"]]

    data = measure_http(home.url, headers=SECRETS, follow_redirects=True).data

    assert (has_secrets(home.requests), has_secrets(other.requests)) == ([True, False], [False])
    dropped = [hop["redirect"]["dropped_credentials"] for hop in data["hops"][:2]]
    assert (dropped, data["http_status"]) == ([[*SECRETS], []], 200)
    assert "CANARY" not in str(data)


def test_c10_another_spelling_of_the_name_gets_none(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([["eof"], ["read", OK, "eof"]])
    server._script[0] = moved(f"http://localhost.:{server.port}/next")

    data = measure_http(f"http://localhost:{server.port}/", headers=SECRETS, follow_redirects=True).data

    assert has_secrets(server.requests) == [True, False]
    assert data["hops"][0]["redirect"]["dropped_credentials"] == [*SECRETS]
    assert "CANARY" not in str(data)


def test_c10_another_scheme_gets_none(
    measure_http: Any, byte_server: Any, tls_server: Any, tmp_path: Path
) -> None:
    last = byte_server([["read", OK, "eof"]])
    secure = tls_server(f"HTTP/1.1 302 X\r\nLocation: {last.url}\r\nContent-Length: 0\r\n\r\n".encode())
    first = byte_server([moved(secure.url)])

    outcome = measure_http(
        first.url, headers=SECRETS, follow_redirects=True, ca_file=str(tmp_path / "ca.pem")
    )

    assert outcome.data["http_status"] == 200
    assert has_secrets(first.requests + secure.requests + last.requests) == [True, False, False]
    assert "CANARY" not in str(outcome.data)
