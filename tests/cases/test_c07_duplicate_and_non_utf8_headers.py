"""C07: every value of every header is kept as it came, and what departs from the grammar is listed.

OISF/libhtp#73 · NanoHttpd/nanohttpd#395 · http-party/http-server#255 · vibe-d/vibe.d#1192
"""

from __future__ import annotations

import json
from typing import Any

import pytest

OK = b"HTTP/1.1 200 OK\r\n"
THREE = b"Content-Length: 3\r\n\r\nabc"


@pytest.mark.parametrize(
    ("lines", "headers", "deviations"),
    [
        pytest.param(
            b"Set-Cookie: a=1\r\nset-cookie: b=2\r\n",
            [["Set-Cookie", "a=1"], ["set-cookie", "b=2"]],
            [],
            id="two",
        ),
        pytest.param(b"A: \xe4\xf6\r\n", [["A", "äö"]], [], id="latin-1"),
        pytest.param(b"A: b\x00c\r\n", [["A", "b\x00c"]], ["control_character"], id="a zero byte"),
        pytest.param(b"A b: c\r\n", [["A b", "c"]], ["header_name_not_token"], id="a space in a name"),
        pytest.param(b"A: b\r\n c\r\n", [["A", "b c"]], ["folded_header"], id="a folded line"),
        pytest.param(b": no name\r\n", [["", "no name"]], ["header_without_name"], id="no name"),
        pytest.param(b"A: b\n", [["A", "b"]], ["lf_line_end"], id="a line feed alone"),
        pytest.param(
            b"Content-Length: 3\r\n",
            [["Content-Length", "3"]],
            ["repeated_content_length"],
            id="equal lengths",
        ),
    ],
)
def test_c07_an_odd_header_is_kept_and_its_deviation_listed(
    measure_http: Any, byte_server: Any, lines: bytes, headers: list[list[str]], deviations: list[str]
) -> None:
    outcome = measure_http(byte_server([["read", OK + lines + THREE, "eof"]]).url)

    data = outcome.data
    assert (outcome.error, data["body"], data["deviations"]) == (None, "abc", deviations)
    assert data["headers"] == [*headers, ["Content-Length", "3"]]
    assert data["raw_head"]["text"].encode("latin-1") == OK + lines + THREE[:-3]
    assert json.loads(json.dumps(data).encode()) == data


def test_c07_which_values_are_not_utf8_is_listed(measure_http: Any, byte_server: Any) -> None:
    head = OK + "A: ä\r\n".encode() + b"B: \xe4\r\n" + THREE

    data = measure_http(byte_server([["read", head, "eof"]]).url).data

    assert (data["headers"][:2], data["headers_latin1"]) == ([["A", "ä"], ["B", "ä"]], [1])


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(b"Content-Length: 3\r\nContent-Length: 4\r\n", id="two lengths"),
        pytest.param(b"Content-Length: +3\r\n", id="a sign"),
        pytest.param(b"Content-Length: 0x3\r\n", id="hexadecimal"),
        pytest.param(b"Content-Length: -1\r\n", id="a negative one"),
        pytest.param(b"Content-Length: 3, 4\r\n", id="a list of different ones"),
    ],
)
def test_c07_a_length_that_is_none_is_a_protocol_error_with_the_head(
    measure_http: Any, byte_server: Any, lines: bytes
) -> None:
    outcome = measure_http(byte_server([["read", OK + b"A: b\r\n" + lines + b"\r\nabc", "eof"]]).url)

    assert (outcome.ok, outcome.error["code"], outcome.data["http_status"]) == (True, "protocol_error", 200)
    assert outcome.data["headers"][0] == ["A", "b"]


def test_c07_a_list_of_equal_lengths_is_one_length(measure_http: Any, byte_server: Any) -> None:
    data = measure_http(byte_server([["read", OK + b"Content-Length: 3, 3\r\n\r\nabc", "eof"]]).url).data

    assert (data["content_length"], data["deviations"]) == (3, ["content_length_list"])


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(b"a: b\r\n" * 10_000, id="ten thousand headers"),
        pytest.param(b"A: " + b"x" * (1 << 20) + b"\r\n", id="one of a mebibyte"),
    ],
)
def test_c07_a_head_without_measure_is_too_large(measure_http: Any, byte_server: Any, lines: bytes) -> None:
    outcome = measure_http(byte_server([["read", OK + lines + THREE, "hang"]]).url)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "too_large", "head")
    assert len(outcome.data["raw_head"]["text"]) <= 16_384
