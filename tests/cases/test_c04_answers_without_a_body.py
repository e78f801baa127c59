"""C04: answers that have no body neither hang nor fail, whatever their headers say."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

GZIP = b"Content-Encoding: gzip\r\n"


@pytest.mark.parametrize(
    ("method", "answer", "declared", "extra"),
    [
        pytest.param("GET", b"HTTP/1.1 204 X\r\n" + GZIP + b"\r\n", None, 0, id="204 that calls itself gzip"),
        pytest.param("GET", b"HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\nhello", 5, 5, id="204 with a body"),
        pytest.param(
            "GET", b"HTTP/1.1 304 X\r\nConnection: keep-alive\r\n\r\n", None, 0, id="304 without a length"
        ),
        pytest.param("GET", b"HTTP/1.1 205 X\r\n\r\n", None, 0, id="205"),
        pytest.param(
            "HEAD",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n" + GZIP + b"\r\n",
            1_000_000,
            0,
            id="HEAD",
        ),
        pytest.param(
            "GET",
            b"HTTP/1.1 200 OK\r\n" + GZIP + b"Content-Length: 0\r\n\r\n",
            0,
            0,
            id="an empty body called gzip",
        ),
    ],
)
def test_c04_no_body_no_wait_no_error(
    measure_http: Any, byte_server: Any, method: str, answer: bytes, declared: int | None, extra: int
) -> None:
    server = byte_server([["read", answer, "hang"]])

    outcome = measure_http(server.url, method=method)

    data = outcome.data
    assert (outcome.ok, outcome.error, data["complete"], data["truncated"]) == (True, None, True, False)
    assert (data["body"], data["body_encoding"], data["body_bytes"]["encoded"]) == (None, None, 0)
    assert (data["content_length"], data["extra_bytes"], data["timings"]["body_ms"]) == (
        declared,
        extra,
        None,
    )
    assert data["content_encoding"] == (["gzip"] if GZIP in answer else [])
    assert data["timings"]["total_ms"] < 2000


@pytest.mark.parametrize(
    ("scheme", "method", "head"),
    [
        pytest.param("http", "GET", b"HTTP/1.1 204 X\r\n\r\n", id="204"),
        pytest.param("http", "GET", b"HTTP/1.1 304 X\r\n\r\n", id="304"),
        pytest.param("http", "HEAD", b"HTTP/1.1 200 X\r\n\r\n", id="HEAD"),
        pytest.param("http", "GET", b"HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n", id="a length of zero"),
        pytest.param("http", "GET", b"HTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\nx", id="after a body"),
        pytest.param("https", "GET", b"HTTP/1.1 204 X\r\n\r\n", id="204 over TLS"),
    ],
)
def test_c04_a_flood_behind_the_end_is_counted_to_a_bound_and_not_kept(
    measure_http: Any,
    byte_server: Any,
    tls_server: Any,
    tmp_path: Path,
    scheme: str,
    method: str,
    head: bytes,
) -> None:
    flood = head + b"z" * 8_388_608
    server = byte_server([["read", flood, "hang"]]) if scheme == "http" else tls_server(flood, 9.0)
    tracemalloc.start()

    outcome = measure_http(server.url, method=method, ca_file=str(tmp_path / "ca.pem"))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (outcome.ok, outcome.error, outcome.data["complete"]) == (True, None, True)
    assert 0 < outcome.data["extra_bytes"] <= 3 * 65_536
    assert peak < 4_194_304


def test_c04_the_connection_is_closed_and_not_used_again(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([["read", b"HTTP/1.1 204 X\r\n\r\nHTTP/1.1 500 X\r\n\r\n", "hang"]])

    statuses = [measure_http(server.url).data["http_status"] for _ in range(2)]

    assert (statuses, server.connections) == ([204, 204], 2)
