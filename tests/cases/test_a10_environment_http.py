"""A10: proxies and passwords of the environment are not for a measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

OK = ["read", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "eof"]
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture
def proxy(byte_server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    tally = byte_server([["hang"]])
    for name in VARIABLES:
        monkeypatch.setenv(name, tally.url)
    monkeypatch.setenv("NO_PROXY", "")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password CANARY\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    return tally


def test_a10_neither_proxy_nor_netrc_of_the_environment_is_used(
    measure_http: Any, byte_server: Any, proxy: Any
) -> None:
    server = byte_server([OK])

    outcome = measure_http(f"{server.url}a?b")

    request = server.requests[0]
    assert (outcome.ok, proxy.connections) == (True, 0)
    assert request.startswith(b"GET /a?b HTTP/1.1\r\n")
    assert [name for name in (b"authorization", b"proxy-", b"canary") if name in request.lower()] == []


def test_a10_a_redirect_does_not_use_them_either(measure_http: Any, byte_server: Any, proxy: Any) -> None:
    last = byte_server([OK])
    moved = f"HTTP/1.1 302 X\r\nLocation: {last.url}\r\nContent-Length: 0\r\n\r\n".encode()
    first = byte_server([["read", moved, "eof"]])

    outcome = measure_http(first.url, follow_redirects=True)

    assert (outcome.data["http_status"], proxy.connections) == (200, 0)
    assert b"authorization" not in last.requests[0].lower()


def test_a10_a_websocket_uses_neither(measure_ws: Any, byte_server: Any, proxy: Any) -> None:
    server = byte_server([["upgrade", b"\x88\x02\x03\xe8", "hang"]])

    outcome = measure_ws(f"{server.url.replace('http', 'ws')}a?b")

    request = server.requests[0]
    assert (outcome.data["http_status"], proxy.connections) == (101, 0)
    assert request.startswith(b"GET /a?b HTTP/1.1\r\n")
    assert [name for name in (b"authorization", b"proxy-", b"canary") if name in request.lower()] == []
