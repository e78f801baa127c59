"""What was seen of an answer: copies are bounded, counts are not."""

from __future__ import annotations

import pytest

from app.measure.http1.answer import RAW_LIMIT, Answer, Body, text_of
from app.measure.http1.head import parse_head


def answer(head: bytes, *, follows: bool = False) -> Answer:
    return Answer(1000, 16, follows=follows, head=parse_head(head))


def test_a_body_copies_its_room_and_counts_up_to_its_limit() -> None:
    body = Body(room=2, limit=5)

    assert [body.add(b"abc"), body.add(b"def")] == [True, False]
    assert (bytes(body.copy), body.received) == (b"ab", 5)


def test_a_head_is_kept_up_to_its_limit_and_counted_beyond() -> None:
    one = Answer(0, 0)
    one.keep_head(b"x" * (RAW_LIMIT + 1))

    assert (len(one.raw_head), one.raw_head_bytes) == (RAW_LIMIT, RAW_LIMIT + 1)


@pytest.mark.parametrize(
    ("head", "location"),
    [
        (b"HTTP/1.1 302 X\nLocation: /a\nLocation: /b\n\n", "/a"),
        (b"HTTP/1.1 302 X\n\n", None),
        (b"HTTP/1.1 200 X\nLocation: /a\n\n", None),
        (b"HTTP/1.1 302 X\nLocation: /\xe4\n\n", "/ä"),
    ],
)
def test_a_redirect_points_where_its_first_location_says(head: bytes, location: str | None) -> None:
    assert answer(head).location() == location


def test_the_body_of_a_redirect_that_is_followed_is_of_little_interest() -> None:
    moved = b"HTTP/1.1 302 X\nLocation: /a\nContent-Encoding: gzip\n\n"

    assert [answer(moved, follows=follows).open_body().room > 16 for follows in (False, True)] == [
        True,
        False,
    ]


def test_before_the_head_there_is_nothing() -> None:
    one = Answer(0, 0)

    assert (one.status, one.content_length, one.values(b"a"), one.location()) == (None, None, [], None)


def test_a_value_that_is_not_utf8_is_read_as_latin1() -> None:
    assert [text_of("ä".encode()), text_of(b"\xe4")] == [("ä", False), ("ä", True)]
