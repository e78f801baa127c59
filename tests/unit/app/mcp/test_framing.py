"""The cutting of bytes into lines."""

from __future__ import annotations

from typing import Any

import pytest

from app.mcp.framing import HEAD_BYTES, LINE_AT_MOST, TAIL_BYTES, Lines, Oversize, fish_id

FISHED: dict[str, tuple[bytes, Any]] = {
    "an id in front": (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"aaa', 7),
    "a text as id": (b'{ "id" : "a\\"\\u00e9" , "params":{"a":"aaa', 'a"é'),
    "a large id": (b'{"id":123456789012345678901234567890,"params":"aaa', 123456789012345678901234567890),
    "an id after nested values": (b'{"params":{"id":1,"b":[{"id":2}]},"id":3,"x":"aaa', 3),
    "an id inside the parameters only": (b'{"params":{"id":1,"a":"aaa', None),
    "an id inside a text only": (b'{"params":"\\"id\\":5,", "x":"aaa', None),
    "an id that is cut": (b'{"id":12', None),
    "an id of no admitted type": (b'{"id":1.5,"a":"aaa', None),
    "a boolean id": (b'{"id":true,"a":"aaa', None),
    "an id that is an object": (b'{"id":{},"a":"aaa', None),
    "an id that is a fuller object": (b'{"id":{"a":1,"b":2},"x":"aaa', None),
    "an id that is no JSON": (b'{"id":01,"a":"aaa', None),
    "a value that is called id": (b'{"a":"id","b":"aaa', None),
    "no object": (b'["id",5,"aaa', None),
    "no object but a key": (b'"id":5,"aaa', None),
    "no JSON": (b"\xff\xff\xff", None),
    "nothing": (b"", None),
    "an id at the end": (b'{"method":"x","params":"aaa\naaa"},"jsonrpc":"2.0","id":5}', 5),
    "a text at the end": (b'{"method":"x","params":"aaa\naaa","id" : "q"} \r', "q"),
    "an id at the end of a nested value": (b'{"params":{"x":"aaa\naaa","id":5}}', None),
    "an id at the end of a text": (b'{"params":"aaa\naaa,\\"id\\":5}"}', None),
}


def test_lines_are_cut_at_line_feeds_alone() -> None:
    assert Lines().feed(b"a\x0b\x0c\xe2\x80\xa8b\nc\nd") == ["a\x0b\x0c\u2028b".encode(), b"c"]


def test_a_line_in_pieces_is_put_together() -> None:
    lines = Lines()

    assert [lines.feed(piece) for piece in (b"a", b"b", b"\nc", b"\n")] == [[], [], [b"ab"], [b"c"]]


@pytest.mark.parametrize("blank", [b"\n", b"   \n", b"\r\n", b"\t\n", b"\x00\n"])
def test_a_blank_line_is_dropped(blank: bytes) -> None:
    assert Lines().feed(blank + b"a\n") == [b"a"]


def test_a_carriage_return_before_the_line_feed_is_tolerated() -> None:
    assert Lines().feed(b"a\r\nb\r\n") == [b"a", b"b"]


def test_the_second_half_of_a_wide_line_end_does_not_spoil_the_next_line() -> None:
    assert Lines().feed("a\n".encode("utf-16-le") + b"b\n") == [b"a\x00", b"b"]


@pytest.mark.parametrize("size", [LINE_AT_MOST - 1, LINE_AT_MOST])
def test_a_line_up_to_the_limit_is_kept(size: int) -> None:
    assert Lines().feed(b"x" * size + b"\nb\n") == [b"x" * size, b"b"]


def test_a_line_beyond_the_limit_becomes_head_and_tail_and_the_next_line_lives() -> None:
    long = b"h" * HEAD_BYTES + b"m" * LINE_AT_MOST + b"t" * TAIL_BYTES

    excerpt = b"h" * HEAD_BYTES + b"\n" + b"t" * TAIL_BYTES
    assert Lines().feed(long + b"\nb\n") == [Oversize(excerpt), b"b"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_the_verdict_does_not_depend_on_the_pieces(size: int) -> None:
    data = b"aaaa\nbbbbb\ncccccc\n\ndddddddddddd\ne\n"
    lines = Lines(limit=5)
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]

    long = [Oversize(b"ccccc\ncccccc"), Oversize(b"ddddd\ndddddddddddd")]
    assert found == [b"aaaa", b"bbbbb", *long, b"e"]


def test_a_long_line_is_not_kept_in_memory() -> None:
    lines = Lines(limit=100)
    for _ in range(1000):
        lines.feed(b"x" * 10_000)

    assert lines.feed(b"\n") == [Oversize(b"x" * 100 + b"\n" + b"x" * TAIL_BYTES)]


@pytest.mark.parametrize(("excerpt", "expected"), FISHED.values(), ids=FISHED)
def test_an_id_is_found_only_where_it_is_beyond_doubt(excerpt: bytes, expected: Any) -> None:
    assert fish_id(excerpt) == expected


def test_a_head_full_of_an_open_text_is_searched_in_linear_time() -> None:
    assert fish_id(b'{"a":"' + b"a\\n" * 20_000) is None
