"""A head is read as it was sent, or refused without being quoted."""

from __future__ import annotations

import pytest

from app.measure.http1.head import (
    DEVIATIONS,
    FIELD_LIMIT,
    HeadError,
    check_start,
    end_of_head,
    parse_head,
    partial_head,
)


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
        pytest.param(b"http/1.1 200 X\n\n", id="lower case"),
        pytest.param(b"\n\n", id="no line"),
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
        pytest.param(b"Content-Length: 3\r\r\n", id="a length and a bare CR"),
        pytest.param(b"Content-Length: 3, \x0c3\n", id="a list with a form feed"),
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


ODD = {
    "lf_line_end": b"HTTP/1.1 200 X\r\nA: b\n\r\n",
    "blank_line_before_status_line": b"\r\n\r\nHTTP/1.1 200 X\r\nA: b\r\n\r\n",
    "extra_space_in_status_line": b"HTTP/1.1  200\tX\r\nA: b\r\n\r\n",
    "no_reason": b"HTTP/1.1 200\r\nA: b\r\n\r\n",
    "http_version_above_1_1": b"HTTP/1.2 200 X\r\nA: b\r\n\r\n",
    "folded_header": b"HTTP/1.1 200 X\r\nA:\r\n b\r\n\r\n",
    "continuation_before_any_header": b"HTTP/1.1 200 X\r\n c\r\nA: b\r\n\r\n",
    "space_before_colon": b"HTTP/1.1 200 X\r\nA : b\r\n\r\n",
    "header_name_not_token": b"HTTP/1.1 200 X\r\nA: b\r\n(\xe4): c\r\n\r\n",
    "header_without_name": b"HTTP/1.1 200 X\r\nA: b\r\n: c\r\n\r\n",
    "line_without_colon": b"HTTP/1.1 200 X\r\nA: b\r\nc\r\n\r\n",
    "control_character": b"HTTP/1.1 200 X\r\nA: b\r\nC: \x00\r\n\r\n",
    "repeated_content_length": b"HTTP/1.1 200 X\r\nA: b\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
    "content_length_list": b"HTTP/1.1 200 X\r\nA: b\r\nContent-Length: 3, 3\r\n\r\n",
    "content_length_not_digits": b"HTTP/1.1 200 X\r\nA: b\r\nContent-Length: +3\r\n\r\n",
    "content_length_and_transfer_encoding": (
        b"HTTP/1.1 200 X\r\nA: b\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    "transfer_encoding_in_http_1_0": b"HTTP/1.0 200 X\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n",
    "repeated_transfer_encoding": (
        b"HTTP/1.1 200 X\r\nA: b\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
}


def test_every_deviation_has_an_example() -> None:
    assert list(ODD) == list(DEVIATIONS)


@pytest.mark.parametrize("deviation", ODD)
def test_an_odd_head_is_read_and_its_deviation_listed(deviation: str) -> None:
    head = parse_head(ODD[deviation])

    assert (head.status, head.deviations, head.fields[0]) == (200, (deviation,), (b"A", b"b"))


def test_a_head_by_the_grammar_has_no_deviation() -> None:
    assert parse_head(b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\n").deviations == ()
    assert parse_head(b"HTTP/1.0 200 \r\n\r\n").deviations == ()


def test_odd_fields_are_kept_as_they_came() -> None:
    head = parse_head(b"HTTP/1.1 200 X\r\n: a\r\n(\xe4) : \x00b\rc\r\nD\r\n\r\n")

    assert head.fields == [(b"", b"a"), (b"(\xe4)", b"\x00b\rc")]


def test_a_name_is_found_although_blanks_stand_before_its_colon() -> None:
    assert parse_head(b"HTTP/1.1 200 X\r\nContent-Length : 3\r\n\r\n").length == 3


def test_more_fields_than_anybody_sends_are_too_large() -> None:
    with pytest.raises(HeadError) as caught:
        parse_head(b"HTTP/1.1 200 X\r\n" + b"a:\r\n" * (FIELD_LIMIT + 1) + b"\r\n")

    assert caught.value.is_too_large


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_cut_head_is_read_up_to_its_last_whole_line(cut: int) -> None:
    block = b"HTTP/1.1 200 X\r\nA: b\r\nContent-Length: 3"

    head = partial_head(block[:cut])

    if cut < 16:
        assert head is None
    else:
        assert head is not None
        assert head.fields == ([(b"A", b"b")] if cut >= 22 else [])


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\r\n\r\n", id="blank lines alone"),
        pytest.param(b"SSH-2.0-x\r\nA: b\r\n", id="another protocol"),
    ],
)
def test_a_cut_head_that_is_none_is_nothing(block: bytes) -> None:
    assert partial_head(block) is None


@pytest.mark.parametrize(
    "start",
    [
        *(b"\r\n" * 8, b"\n" * 16 + b"HTTP/1.1 200 OK\n"),
        *(b"", b"H", b"HTTP/1.", b"HTTP/1.1", b"HTTP/1.1 20", b"HTTP/1.1 \t200", b"\r\nHT"),
        *(b"HTTP/1.1 200\r", b"HTTP/1.1 200 a\rb", b"HTTP/1.1 200\r\nno"),
    ],
)
def test_what_can_become_an_answer_is_waited_for(start: bytes) -> None:
    check_start(start)


@pytest.mark.parametrize(
    "start",
    [
        *(
            b"h",
            b"HTTP/2",
            b"SSH-2.0-x",
            b"\x15\x03\x01",
            b"hello\n",
            b"ICY 200 OK\r\n",
            b"HTTP/1.1 99 X\r\n",
        ),
        *(b"HTTP/1.1 1000 X\n", b"\r\n" * 8 + b"\r", b"HTTP/1.1 200OK\r\n", b" HTTP/1.1 200 OK"),
        *(b"HTTP/1.x", b"HTTP/1.10", b"HTTP/1.1X", b"HTTP/1.1 0", b"HTTP/1.1 99 ", b"HTTP/1.1 1000"),
        *(b"HTTP/1.1\r", b"HTTP/1.1 20\r", b"HTTP/1.1 200\rX"),
    ],
)
def test_what_cannot_become_an_answer_is_refused_at_once(start: bytes) -> None:
    with pytest.raises(HeadError):
        check_start(start)


@pytest.mark.parametrize(
    ("data", "end"),
    [
        (b"HTTP/1.1 200 X\r\n\r\nbody", 18),
        (b"HTTP/1.1 200 X\n\nbody", 16),
        (b"\r\n\r\nHTTP/1.1 200 X\r\n\r\n", 22),
        (b"HTTP/1.1 200 X\r\n", -1),
        (b"\r\n\r\n", -1),
    ],
)
def test_the_end_of_a_head_is_its_blank_line_and_not_one_before_it(data: bytes, end: int) -> None:
    assert end_of_head(data) == end


def test_a_cut_head_of_too_many_fields_keeps_the_first_of_them() -> None:
    head = partial_head(b"HTTP/1.1 200 X\r\n" + b"a: b\r\n" * (FIELD_LIMIT + 5) + b" c\r\n")

    assert head is not None
    assert head.fields == [(b"a", b"b")] * FIELD_LIMIT
