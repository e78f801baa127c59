"""C01: a total deadline is total, however slowly the peer goes on."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import pytest

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def drip(start: bytes, piece: bytes) -> list[list[Any]]:
    return [["read", start, *[("wait", 0.08), piece] * 100]]


@pytest.mark.parametrize(
    ("start", "piece", "phase", "status"),
    [
        pytest.param(OK + b"\r\n", b"x", "body", 200, id="in the body"),
        pytest.param(CHUNKED, b"1", "body", 200, id="in the chunk size"),
        pytest.param(CHUNKED + b"0\r\n", b"T: x\r\n", "body", 200, id="in the trailers"),
        pytest.param(b"HTTP/1.1 200 ", b"O", "head", None, id="in the status line"),
        pytest.param(OK, b"A: b\r\n", "head", 200, id="in the header lines"),
        pytest.param(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", "head", None, id="with interim answers"),
    ],
)
def test_c01_a_drip_ends_at_the_deadline_with_its_phase_and_facts(
    measure_http: Any, byte_server: Any, start: bytes, piece: bytes, phase: str, status: int | None
) -> None:
    server = byte_server(drip(start, piece))

    outcome = measure_http(server.url, timeout_ms=500)

    assert (outcome.error["code"], outcome.error["phase"]) == ("timeout", phase)
    assert (outcome.ok, outcome.data["http_status"]) == (phase == "body", status)
    assert 200 < outcome.data["timings"]["total_ms"] < 1500
    assert outcome.data["bytes"]["received"] > len(start)
    assert outcome.data["timings"]["first_byte_ms"] is not None


def test_c01_tiny_chunks_without_end_end_at_the_deadline(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([chain(["read", CHUNKED], repeat(b"1\r\na\r\n" * 20_000))])

    outcome = measure_http(server.url, timeout_ms=1000, read_limit_bytes=104_857_600)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "timeout", "body")
    assert (outcome.error["at_ms"] < 2500, outcome.data["body_bytes"]["encoded"] > 0) == (True, True)


def test_c01_what_dripped_in_is_kept(measure_http: Any, byte_server: Any) -> None:
    server = byte_server(drip(OK + b"Content-Type: text/plain\r\n\r\n", b"x"))

    data = measure_http(server.url, timeout_ms=500).data

    assert data["body"] == "x" * data["body_bytes"]["encoded"]
    assert (data["complete"], data["body_bytes"]["encoded"] > 0) == (False, True)


def test_c01_a_drip_in_the_handshake_ends_at_the_deadline(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([[b"\x16\x03\x03\x40\x00", *[("wait", 0.08), b"x"] * 100]])

    outcome = measure_http(f"https://127.0.0.1:{server.port}/", timeout_ms=700)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "timeout", "tls")
    assert (outcome.data["peer"]["port"], outcome.data["timings"]["send_ms"]) == (server.port, None)
