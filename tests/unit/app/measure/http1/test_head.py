"""A head is read as it was sent, or refused without being quoted."""

from __future__ import annotations

import pytest

from app.measure.http1.head import HeadError, parse_head


def test_a_head_is_read_as_it_was_sent() -> None:
    block = b"HTTP/1.0 404 Not  F\xf6und\r\nX-A: 1\r\nx-a:\t 2 \r\nContent-LENGTH: 3\r\n\r\n"

    head = parse_head(block)

    assert (head.status, head.reason, head.version) == (404, "Not  Föund", "1.0")
    assert head.fields == [(b"X-A", b"1"), (b"x-a", b"2"), (b"Content-LENGTH", b"3")]
    assert head.by_name == {b"x-a": [b"1", b"2"], b"content-length": [b"3"]}
    assert (head.length, head.is_chunked) == (3, False)


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        (b"HTTP/1.1 200", 200, ""),
        (b"HTTP/1.1 200 ", 200, ""),
        (b"HTTP/1.1 999 a b", 999, "a b"),
        (b"HTTP/1.9 100 C", 100, "C"),
    ],
)
def test_the_reason_may_be_missing(line: bytes, status: int, reason: str) -> None:
    head = parse_head(line + b"\r\n\r\n")

    assert (head.status, head.reason, head.fields) == (status, reason, [])


@pytest.mark.parametrize(
    ("lines", "length", "is_chunked"),
    [
        (b"", None, False),
        (b"Content-Length: 0\n", 0, False),
        (b"Content-Length: 3\nContent-Length: 3\n", 3, False),
        (b"Content-Length: 3, 3\n", 3, False),
        (b"Transfer-Encoding: CHUNKED\nContent-Length: 3\n", 3, True),
    ],
)
def test_the_framing_of_a_head(lines: bytes, length: int | None, is_chunked: object) -> None:
    head = parse_head(b"HTTP/1.1 200 OK\n" + lines + b"\n")

    assert (head.length, head.is_chunked, head.fault) == (length, is_chunked, None)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b"HTTP/1.1 99 X\n\n", id="a status of two digits"),
        pytest.param(b"HTTP/1.1 099 X\n\n", id="a status below 100"),
        pytest.param(b"HTTP/1.1 2000 X\n\n", id="a status of four digits"),
        pytest.param(b"HTTP/2.0 200 X\n\n", id="another version"),
        pytest.param(b"HTTP/1.1  200 X\n\n", id="two blanks"),
        pytest.param(b"http/1.1 200 X\n\n", id="lower case"),
        pytest.param(b"\n\n", id="no line"),
        pytest.param(b"HTTP/1.1 200 X\n A: b\n\n", id="a continuation of nothing"),
        pytest.param(b"HTTP/1.1 200 X\nA : b\n\n", id="a blank behind the name"),
        pytest.param(b"HTTP/1.1 200 X\n: b\n\n", id="no name"),
        pytest.param(b"HTTP/1.1 200 X\nA\n\n", id="no colon"),
        pytest.param(b"HTTP/1.1 200 X\nA\xe4: b\n\n", id="a name that is no token"),
        pytest.param(b"HTTP/1.1 200 X\nA: b\x00\n\n", id="a zero byte"),
        pytest.param(b"HTTP/1.1 200 X\nA: b\rc\n\n", id="a carriage return in a value"),
        pytest.param(b"HTTP/1.1 200 X\nA: b\x0bc\n\n", id="a vertical tab in a value"),
    ],
)
def test_what_is_no_head_is_refused(block: bytes) -> None:
    with pytest.raises(HeadError):
        parse_head(block)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(b"Content-Length: +3\n", id="a length with a sign"),
        pytest.param(b"Content-Length: \n", id="an empty length"),
        pytest.param(b"Content-Length: 0x3\n", id="a length in hexadecimal"),
        pytest.param(b"Content-Length: 9223372036854775808\n", id="a length above 63 bits"),
        pytest.param(b"Content-Length: 111111111111111111111\n", id="a length beyond reason"),
        pytest.param(b"Content-Length: 3, 4\n", id="two lengths"),
        pytest.param(b"Content-Length: 3\nContent-Length: 003\n", id="two spellings of a length"),
        pytest.param(b"Transfer-Encoding: chunked\nContent-Length: x\n", id="chunks and a bad length"),
        pytest.param(b"Transfer-Encoding: gzip, chunked\n", id="a coding that we do not undo"),
        pytest.param(b"Transfer-Encoding: \n", id="an empty coding"),
        pytest.param(b"Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n", id="twice chunked"),
    ],
)
def test_a_head_whose_framing_is_none_is_kept_with_its_fault(lines: bytes) -> None:
    head = parse_head(b"HTTP/1.1 200 X\nA: b\n" + lines + b"\n")

    assert (head.status, head.fields[0], head.length, head.is_chunked) == (200, (b"A", b"b"), None, False)
    assert head.fault is not None


def test_the_longest_length_is_one_that_every_reader_holds() -> None:
    head = parse_head(b"HTTP/1.1 200 X\nContent-Length: 9223372036854775807\n\n")

    assert (head.length, head.fault) == (2**63 - 1, None)


def test_folded_lines_become_one_value() -> None:
    head = parse_head(b"HTTP/1.1 200 X\nA: b\n\t c \n d\nE:\n f\n \n\t\n  g h\nI:\n \n\n")

    assert head.fields == [(b"A", b"b c d"), (b"E", b"f g h"), (b"I", b"")]
