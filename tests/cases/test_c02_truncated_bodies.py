"""C02: fewer bytes than promised are no success, and what came is kept."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64decode
from typing import Any

import pytest

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
LENGTH = OK + b"Content-Length: 10\r\n\r\nabc"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(64))


@pytest.mark.parametrize(
    ("answer", "end", "expected"),
    [
        pytest.param(LENGTH, "eof", 10, id="a length and FIN"),
        pytest.param(LENGTH, "reset", 10, id="a length and RST"),
        pytest.param(CHUNKED + b"5\r\nabc", "eof", None, id="inside a chunk"),
        pytest.param(CHUNKED + b"3\r\nabc\r\n", "eof", None, id="after a whole chunk"),
        pytest.param(CHUNKED + b"3\r\nabc\r\n0\r\nT: x", "eof", None, id="in the trailers"),
    ],
)
def test_c02_a_body_cut_short_is_truncated_with_its_counts(
    measure_http: Any, byte_server: Any, answer: bytes, end: str, expected: int | None
) -> None:
    server = byte_server([["read", answer, ("wait", 0.1), end]])

    outcome = measure_http(server.url)

    assert (outcome.ok, outcome.data["http_status"], outcome.data["complete"]) == (True, 200, False)
    assert (outcome.error["code"], outcome.error["phase"]) == ("truncated", "body")
    assert (outcome.error.get("expected_bytes"), outcome.error["received_bytes"]) == (expected, 3)
    assert (outcome.data["body"], outcome.data["body_bytes"]["encoded"]) == ("abc", 3)


def test_c02_bytes_after_the_length_are_counted_and_not_shown(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([["read", OK + b"Content-Length: 3\r\n\r\nabcdef", "eof"]])

    outcome = measure_http(server.url)

    assert (outcome.error, outcome.data["body"], outcome.data["extra_bytes"]) == (None, "abc", 3)
    assert outcome.data["complete"] is True


def test_c02_a_body_that_ends_with_the_connection_is_complete_and_its_length_unknown(
    measure_http: Any, byte_server: Any
) -> None:
    server = byte_server([["read", OK + b"\r\nabc", "eof"]])

    outcome = measure_http(server.url)

    assert (outcome.error, outcome.data["body"], outcome.data["complete"]) == (None, "abc", True)
    assert outcome.data["content_length"] is None


def test_c02_chunks_win_over_a_length(measure_http: Any, byte_server: Any) -> None:
    answer = OK + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    server = byte_server([["read", answer, "eof"]])

    outcome = measure_http(server.url)

    assert (outcome.error, outcome.data["body"], outcome.data["content_length"]) == (None, "abc", 1)


def test_c02_half_a_compressed_body_is_truncated(measure_http: Any, byte_server: Any) -> None:
    packed = gzip.compress(NOISE)
    half = packed[: len(packed) // 2]
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(half)
    server = byte_server([["read", head + half, "eof"]])

    outcome = measure_http(server.url)

    assert (outcome.ok, outcome.error["code"], outcome.error["received_bytes"]) == (
        True,
        "truncated",
        len(half),
    )
    assert NOISE.startswith(b64decode(outcome.data["body"]))
    assert outcome.data["complete"] is True
