"""C13: old versions are versions, strangers are a protocol error with their first bytes.

curl/curl#13045 · espressif/arduino-esp32#4454 · tornadoweb/tornado#857 · neonmoe/minreq#38 · ArchiveTeam/wpull#291
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("wire", "version", "reason", "body"),
    [
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nx", "1.0", "OK", "x", id="1.0 until it closes"),
        pytest.param(b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "1.1", "", "x", id="no reason"),
    ],
)
def test_c13_an_old_or_short_status_line_is_an_answer(
    measure_http: Any, byte_server: Any, wire: bytes, version: str, reason: str, body: str
) -> None:
    outcome = measure_http(byte_server([["read", wire, "eof"]]).url)

    data = outcome.data
    assert (outcome.ok, outcome.error, data["http_status"]) == (True, None, 200)
    assert (data["http_version"], data["reason"], data["body"]) == (version, reason, body)


@pytest.mark.parametrize("end", ["eof", "hang"])
@pytest.mark.parametrize(
    ("wire", "first_bytes"),
    [
        pytest.param(b"hello\n", "hello\\n", id="HTTP/0.9"),
        pytest.param(b"HTTP/1.1 99 X\r\n\r\n", "HTTP/1.1 99 X\\r\\n\\r\\n", id="two digits"),
        pytest.param(b"HTTP/1.1 1000 X\r\n\r\n", "HTTP/1.1 1000 X\\r\\n\\r\\n", id="four digits"),
        pytest.param(b"HTTP/2.0 200 OK\r\n\r\n", "HTTP/2.0 200 OK\\r\\n\\r\\n", id="another version"),
        pytest.param(b"ICY 200 OK\r\n\r\n", "ICY 200 OK\\r\\n\\r\\n", id="radio"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", "SSH-2.0-OpenSSH\\r\\n", id="SSH"),
        pytest.param(b"\x15\x03\x01\x00\x02\x02\x28", "\\x15\\x03\\x01\\x00\\x02\\x02(", id="a TLS alert"),
        pytest.param(b"a" * (5 << 20), "a" * 64, id="5 MiB without a line"),
    ],
)
def test_c13_a_stranger_is_a_protocol_error_at_once_with_its_first_bytes(
    measure_http: Any, byte_server: Any, wire: bytes, first_bytes: str, end: str
) -> None:
    outcome = measure_http(byte_server([["read", wire, end]]).url, timeout_ms=5000)

    assert (outcome.ok, outcome.error["code"], outcome.error["first_bytes"]) == (
        False,
        "protocol_error",
        first_bytes,
    )
    assert outcome.data["timings"]["total_ms"] < 4000


def test_c13_nothing_at_all_is_a_kind_of_its_own(measure_http: Any, byte_server: Any) -> None:
    outcome = measure_http(byte_server([["read", "eof"]]).url)

    assert (outcome.error["code"], outcome.error["phase"]) == ("closed_without_answer", "first_byte")
