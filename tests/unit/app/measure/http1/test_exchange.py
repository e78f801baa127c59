"""One exchange: framing, limits, and what is kept of an answer that does not end well."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from app.errors import ProbeFailed
from app.measure.http1.answer import text_of
from app.measure.http1.exchange import HEAD_LIMIT, INTERIM_LIMIT

OK = b"HTTP/1.1 200 OK\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
Play = Any


def reset() -> ProbeFailed:
    return ProbeFailed("body", "reset", "ECONNRESET", errno=104)


def test_the_request_is_sent_once_as_it_stands_on_the_wire(play: Play) -> None:
    played = play(OK + b"Content-Length: 0\r\n\r\n", body=b"hello")

    assert played.sent.startswith(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert played.sent.endswith(b"Connection: close\r\nContent-Length: 5\r\n\r\nhello")


def test_an_answer_is_read_to_its_end_and_counted_and_hashed(play: Play) -> None:
    played = play(OK + b"X-A: 1\r\nContent-Length: 5\r\n\r\nhe", b"llo")

    answer = played.answer
    assert (answer.status, answer.head.reason, answer.head.version, answer.content_length) == (
        200,
        "OK",
        "1.1",
        5,
    )
    assert (played.body, answer.complete, answer.extra_bytes, played.failed) == (b"hello", True, 0, None)
    assert answer.body.digest.hexdigest() == hashlib.sha256(b"hello").hexdigest()


def test_headers_keep_order_case_repetition_and_foreign_bytes(play: Play) -> None:
    head = b"Set-Cookie: a\r\nCONTENT-length: 2\r\nset-cookie:b \r\nContent-Length: 2\r\nX: \xe4\r\n  folded\r\n\r\n"

    assert play(OK + head + b"hi").answer.head.fields == [
        (b"Set-Cookie", b"a"),
        (b"CONTENT-length", b"2"),
        (b"set-cookie", b"b"),
        (b"Content-Length", b"2"),
        (b"X", b"\xe4 folded"),
    ]


def test_lines_may_end_without_carriage_return(play: Play) -> None:
    played = play(b"HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nhi")

    assert (played.answer.head.fields, played.body) == ([(b"A", b"b"), (b"Content-Length", b"2")], b"hi")


def test_a_chunked_body_is_joined(play: Play) -> None:
    played = play(OK + b"Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n", b"2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n")

    assert (played.body, played.answer.complete, played.answer.content_length) == (b"abcde", True, None)
    assert played.answer.head.fields == [(b"Transfer-Encoding", b"Chunked")]


def test_a_body_without_length_ends_with_the_connection(play: Play) -> None:
    played = play(OK + b"\r\n", b"abc", b"def")

    assert (played.body, played.answer.complete, played.answer.content_length) == (b"abcdef", True, None)


def test_each_phase_is_stamped_by_the_read_that_ended_it(play: Play) -> None:
    played = play(b"HTTP/1.1 ", b"200 OK\r\n", b"Content-Length: 2\r\n\r\n", b"h", b"i")

    assert played.timings == {
        "resolve_ms": None,
        "connect_ms": None,
        "tls_ms": None,
        "send_ms": 1.0,
        "first_byte_ms": 1.0,
        "head_ms": 2.0,
        "body_ms": 2.0,
        "other_ms": 2.0,
        "total_ms": 8.0,
    }


def test_an_empty_body_takes_no_time(play: Play) -> None:
    played = play(OK + b"Content-Length: 0\r\n\r\n")

    assert (played.timings["body_ms"], played.answer.complete, played.body) == (None, True, b"")


def test_an_empty_chunked_body_has_framing_to_read(play: Play) -> None:
    played = play(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0\r\n\r\n")

    assert (played.timings["body_ms"], played.answer.complete, played.body) == (1.0, True, b"")


@pytest.mark.parametrize(
    ("status", "method"),
    [(204, "GET"), (205, "GET"), (304, "GET"), (200, "HEAD"), (404, "HEAD")],
)
def test_an_answer_that_has_no_body_does_not_wait_for_one(play: Play, status: int, method: str) -> None:
    head = b"HTTP/1.1 %d X\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n" % status

    played = play(head + b"he", b"llo", method=method)

    answer = played.answer
    assert (answer.status, answer.complete, answer.body, answer.extra_bytes) == (status, True, None, 5)
    assert (answer.content_length, played.timings["body_ms"]) == (5, None)


def test_bytes_after_the_end_are_counted_and_not_shown(play: Play) -> None:
    played = play(OK + b"Content-Length: 3\r\n\r\nabcde", b"f")

    assert (played.body, played.answer.extra_bytes, played.answer.complete) == (b"abc", 3, True)


def test_interim_answers_are_read_past_and_counted(play: Play) -> None:
    played = play(
        b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY, EARLY[:20], EARLY[20:] + OK + b"Content-Length: 2\r\n\r\nhi"
    )

    assert (played.answer.status, len(played.answer.interim), played.body) == (200, 3, b"hi")
    assert played.answer.head.fields == [(b"Content-Length", b"2")]


def test_endless_interim_answers_end_as_a_protocol_error_with_the_count(play: Play) -> None:
    played = play(EARLY * 500)

    assert played.failure == ("head", "protocol_error")
    assert played.failed.facts == {"informational": INTERIM_LIMIT + 1}


@pytest.mark.parametrize(
    ("pieces", "code"),
    [
        pytest.param(
            [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"], "protocol_error", id="101 unasked"
        ),
        pytest.param([b"HTTP/2.0 200 OK\r\n\r\n"], "protocol_error", id="a version that is not ours"),
        pytest.param([b"HTTP/1.1 099 X\r\n\r\n"], "protocol_error", id="a status below 100"),
        pytest.param([b"HTTP/1.1 1000 X\r\n\r\n"], "protocol_error", id="a status of four digits"),
        pytest.param([b"ICY 200 OK\r\n\r\n"], "protocol_error", id="another protocol"),
        pytest.param([b"SSH-2.0-x\r\n"], "protocol_error", id="a greeting that waits for us"),
        pytest.param([b"\x15\x03\x01\x00\x02\x02\x28"], "protocol_error", id="a TLS alert"),
        pytest.param([b"HT", b"ML"], "protocol_error", id="a beginning that turns out wrong"),
        pytest.param([OK + b"A: " + b"x" * HEAD_LIMIT], "too_large", id="a head above the limit"),
        pytest.param([OK, b"A: b\r\n" * 20_000], "too_large", id="too many headers"),
        pytest.param([OK + b"Content-"], "truncated", id="half a head"),
    ],
)
def test_what_is_no_answer_has_its_code_and_no_status(play: Play, pieces: list[bytes], code: str) -> None:
    played = play(*pieces)

    assert (played.failure, played.answer.status) == (("head", code), None)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(b"Content-Length: 3\r\nContent-Length: 4\r\n", id="two lengths"),
        pytest.param(b"Content-Length: -1\r\n", id="a negative length"),
        pytest.param(b"Content-Length: 9223372036854775808\r\n", id="a length above 63 bits"),
        pytest.param(b"Transfer-Encoding: gzip, chunked\r\n", id="a coding that is not ours"),
    ],
)
def test_a_head_whose_framing_is_none_keeps_its_facts(play: Play, lines: bytes) -> None:
    played = play(OK + b"A: b\r\n" + lines + b"\r\nabc")

    answer = played.answer
    assert (played.failure, answer.status, answer.content_length) == (("head", "protocol_error"), 200, None)
    assert (answer.head.fields[0], answer.body, answer.complete) == ((b"A", b"b"), None, False)


@pytest.mark.parametrize(
    ("status", "method"),
    [(204, "GET"), (205, "GET"), (304, "GET"), (200, "HEAD")],
)
@pytest.mark.parametrize("line", [b"Content-Length: x", b"Transfer-Encoding: gzip"])
def test_framing_means_nothing_where_there_is_no_body(
    play: Play, status: int, method: str, line: bytes
) -> None:
    early = b"HTTP/1.1 103 Early\r\n" + line + b"\r\n\r\n"

    played = play(early + b"HTTP/1.1 %d X\r\n%s\r\n\r\n" % (status, line), method=method)

    assert (played.failed, played.answer.status, len(played.answer.interim)) == (None, status, 1)
    assert (played.answer.complete, played.answer.content_length) == (True, None)


def test_interim_answers_are_bounded_together(play: Play) -> None:
    long = EARLY[:-2] + b"A: " + b"x" * 30_000 + b"\r\n\r\n"

    played = play(*[long] * 5, OK + b"\r\n")

    assert (played.failure, played.failed.facts) == (("head", "too_large"), {"informational": 3})


def test_others_get_their_turn_between_interim_answers(play: Play) -> None:
    played = play(EARLY * INTERIM_LIMIT + OK + b"Content-Length: 0\r\n\r\n")

    assert (played.failed, played.turns >= INTERIM_LIMIT) == (None, True)


def test_nothing_at_all_is_a_kind_of_its_own(play: Play) -> None:
    assert play().failure == ("first_byte", "closed_without_answer")
    assert play(EARLY).failure == ("head", "closed_without_answer")
    assert play(EARLY).failed.facts == {"received_bytes": 0, "informational": 1}


def test_a_reset_before_the_answer_stays_a_reset(play: Play) -> None:
    played = play(end=ProbeFailed("first_byte", "reset", "ECONNRESET", errno=104))

    assert played.failure == ("first_byte", "reset")


@pytest.mark.parametrize(
    ("pieces", "expected", "received"),
    [
        pytest.param([b"Content-Length: 10\r\n\r\nabc"], 10, 3, id="a length"),
        pytest.param([b"Content-Length: 10\r\n\r\n"], 10, 0, id="a length and nothing"),
        pytest.param([b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc"], None, 3, id="inside a chunk"),
        pytest.param(
            [b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"], None, 3, id="without the last chunk"
        ),
        pytest.param([b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2"], None, 3, id="inside a chunk size"),
        pytest.param(
            [b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n"],
            None,
            3,
            id="inside the trailers",
        ),
    ],
)
@pytest.mark.parametrize("end", [None, reset()], ids=["closed", "reset"])
def test_a_body_cut_short_keeps_what_came(
    play: Play, pieces: list[bytes], expected: int | None, received: int, end: ProbeFailed | None
) -> None:
    played = play(OK, *pieces, end=end)

    assert played.failure == ("body", "truncated")
    assert played.failed.facts == {"expected_bytes": expected, "received_bytes": received}
    assert (played.answer.status, played.body, played.answer.complete) == (200, b"abc"[:received], False)


def test_a_reset_is_no_end_of_a_body_without_length(play: Play) -> None:
    played = play(OK + b"\r\n", b"abc", end=reset())

    assert (played.failure, played.body, played.answer.complete) == (("body", "reset"), b"abc", False)


@pytest.mark.parametrize("chunk", [b"x\r\n", b"3\r\nabcd\r\n", b"-1\r\n"])
def test_broken_chunks_are_a_protocol_error_of_the_body(play: Play, chunk: bytes) -> None:
    played = play(OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)

    assert (played.failure, played.answer.status) == (("body", "protocol_error"), 200)


def test_an_answer_that_is_none_leaves_its_first_bytes_as_evidence_and_no_quote_in_the_message(
    play: Play,
) -> None:
    played = play(b"SSH-2.0-OpenSSH\r\n\xff" + b"x" * 100)

    assert str(played.failed) == "the answer is not HTTP/1"
    assert played.failed.facts == {"first_bytes": "SSH-2.0-OpenSSH\\r\\n\\xff" + "x" * 46}


def test_a_head_that_is_cut_keeps_what_its_whole_lines_say(play: Play) -> None:
    partial = play(OK + b"A: b\r\nC: d").answer.partial

    assert (partial.status, partial.fields) == (200, [(b"A", b"b")])


def test_the_lines_of_a_cut_interim_answer_are_not_those_of_the_answer(play: Play) -> None:
    assert play(EARLY + b"HTTP/1.1 103 Early\r\nA: b\r\n").answer.partial is None


def test_the_head_is_kept_as_it_came_up_to_a_limit(play: Play) -> None:
    head = OK + b"A: " + b"x" * 20_000 + b"\r\n\r\n"

    answer = play(EARLY + head + b"body").answer

    assert (answer.raw_head, answer.raw_head_bytes) == (head[:16_384], len(head))


def test_trailers_are_kept_in_order_and_case(play: Play) -> None:
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"

    answer = play(chunked + b"1\r\na\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n").answer

    assert (answer.framing, answer.trailers) == ("chunked", [(b"X-Sum", b"1"), (b"x-sum", b"2")])


@pytest.mark.parametrize(
    ("wire", "framing"),
    [
        (OK + b"Content-Length: 1\r\n\r\na", "length"),
        (OK + b"\r\na", "close"),
        (OK + b"Content-Length: 0\r\n\r\n", "none"),
        (b"HTTP/1.1 204 X\r\n\r\n", "none"),
    ],
)
def test_the_framing_is_a_fact(play: Play, wire: bytes, framing: str) -> None:
    assert play(wire).answer.framing == framing


@pytest.mark.parametrize(
    ("pieces", "turns"),
    [
        pytest.param([b"1\r\na\r\n" * 10_000] * 3, 30_000 // 256, id="tiny chunks"),
        pytest.param([b"1\r\na\r\n"] * 3000, 3000 // 16, id="tiny reads"),
    ],
)
def test_others_get_their_turn_however_much_arrives(play: Play, pieces: list[bytes], turns: int) -> None:
    played = play(OK + b"Transfer-Encoding: chunked\r\n\r\n", *pieces, b"0\r\n\r\n")

    assert (played.failed, played.answer.complete, played.turns >= turns) == (None, True, True)


def test_reading_ends_at_the_limit(play: Play) -> None:
    played = play(OK + b"Content-Length: 10\r\n\r\nabc", b"def", b"ghij", read_limit=5)

    assert played.failure == ("body", "too_large")
    assert played.failed.facts == {"expected_bytes": 10, "received_bytes": 5}
    assert (played.body, played.answer.complete) == (b"abcde", False)


def test_a_body_exactly_as_long_as_the_limit_is_complete(play: Play) -> None:
    played = play(OK + b"Content-Length: 5\r\n\r\nabcde", read_limit=5)

    assert (played.failed, played.answer.complete) == (None, True)


def test_our_copy_is_short_and_the_count_is_not(play: Play) -> None:
    played = play(OK + b"Content-Length: 6\r\n\r\nab", b"cd", b"ef", room=3)

    assert (played.body, played.answer.body.received) == (b"abc", 6)


def test_an_encoded_body_is_copied_further(play: Play) -> None:
    played = play(OK + b"Content-Encoding: gzip\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000, room=3)

    assert len(played.body) == 2000


def test_the_body_of_a_followed_redirect_is_copied_little(play: Play) -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Encoding: gzip\r\nContent-Length: 9000\r\n\r\n"

    played = play(head + b"x" * 9000, room=100_000, follows=True)

    assert (len(played.body), played.answer.body.received) == (4096, 9000)


@pytest.mark.parametrize(
    ("head", "location"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /b\r\nlocation: /c\r\n", "/b"),
        (b"HTTP/1.1 308 X\r\nLocation: /\xc3\xa4\r\n", "/ä"),
        (b"HTTP/1.1 307 X\r\nLocation: /\xe4\r\n", "/ä"),
        (b"HTTP/1.1 302 Found\r\n", None),
        (b"HTTP/1.1 300 X\r\nLocation: /b\r\n", None),
        (b"HTTP/1.1 201 Created\r\nLocation: /b\r\n", None),
    ],
)
def test_only_a_redirect_with_a_location_leads_on(play: Play, head: bytes, location: str | None) -> None:
    assert play(head + b"Content-Length: 0\r\n\r\n").answer.location() == location


def test_a_value_that_is_no_utf8_is_read_as_latin1_and_marked() -> None:
    assert (text_of("ä".encode()), text_of(b"\xe4")) == (("ä", False), ("ä", True))


def test_the_blank_line_may_come_in_pieces(play: Play) -> None:
    heads = [play(OK + b"A: b\r", b"\n\r", b"\nx").answer.head, play(OK + b"A: b\r\n\r", b"\nx").answer.head]

    assert [head.fields for head in heads] == [[(b"A", b"b")], [(b"A", b"b")]]


def test_a_head_above_the_limit_is_too_large_although_its_end_is_there(play: Play) -> None:
    played = play(OK + b"A: b\r\nB: " + b"x" * HEAD_LIMIT + b"\r\n\r\n")

    assert (played.failure, played.answer.status) == (("head", "too_large"), None)
    assert (played.answer.partial.status, played.answer.partial.fields[0]) == (200, (b"A", b"b"))


def test_a_body_behind_a_head_may_be_longer_than_the_limit_of_heads(play: Play) -> None:
    played = play(OK + b"Content-Length: 70000\r\n\r\n" + b"x" * 70_000)

    assert (played.failed, played.answer.body.received) == (None, 70_000)


def test_a_head_of_too_many_fields_is_no_answer_and_keeps_the_first_of_them(play: Play) -> None:
    played = play(OK + b"a: b\r\n" * 1001 + b"\r\n")

    assert (played.failure, played.answer.status) == (("head", "too_large"), None)
    assert (played.answer.partial.status, len(played.answer.partial.fields)) == (200, 1000)
