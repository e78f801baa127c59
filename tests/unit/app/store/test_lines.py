"""A log read forwards: good lines are served, everything else is reported once with its position."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from app.records.codec import MAX_LINE_BYTES
from app.store.lines import read_lines
from app.store.log import Damage, Line

Lines = Callable[[Sequence[int]], bytes]
Found = list[tuple[int, int | None]]


def read(content: bytes, end: int | None = None) -> tuple[Found, list[Damage]]:
    found = list(
        read_lines(
            lambda size, offset: content[offset : offset + size], 0, len(content) if end is None else end, "f"
        )
    )
    served = [(line.position, line.record.seq) for line in found if isinstance(line, Line)]
    return served, [damage for damage in found if isinstance(damage, Damage)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param(b"garbage", "not_json", id="garbage"),
        pytest.param(b"{}", "not_a_record", id="an empty object"),
        pytest.param(b'{"a":1}{"b":2}', "not_a_record", id="two glued objects"),
        pytest.param(b"", "blank", id="an empty line"),
        pytest.param(b"\0" * 4096, "nul", id="a zeroed block"),
        pytest.param(b'{"v":1,"x":"\xc3"}', "not_utf8", id="a cut character"),
        pytest.param(b"x" * (MAX_LINE_BYTES + 1), "too_long", id="a line beyond the limit"),
    ],
)
def test_damage_in_the_middle_is_served_around(lines: Lines, bad: bytes, reason: str) -> None:
    before, after = lines([1, 2]), lines([3])

    served, damage = read(before + bad + b"\n" + after)

    assert [seq for _, seq in served] == [1, 2, 3]
    assert [(one.offset, one.length, one.reason) for one in damage] == [(len(before), len(bad), reason)]


def test_a_byte_order_mark_is_reported_and_the_record_behind_it_served(lines: Lines) -> None:
    assert read(b"\xef\xbb\xbf" + lines([1])) == ([(3, 1)], [Damage("f", 0, 3, "byte_order_mark")])


def test_carriage_returns_do_no_harm(lines: Lines) -> None:
    text = lines([1, 2]).replace(b"\n", b"\r\n")

    assert read(text) == ([(0, 1), (len(text) // 2, 2)], [])


@pytest.mark.parametrize(
    ("torn", "reason"), [(b'{"v":1', "torn"), (b"\0\0", "nul"), (b"y" * (MAX_LINE_BYTES + 1), "too_long")]
)
def test_the_torn_end_is_reported(lines: Lines, torn: bytes, reason: str) -> None:
    good = lines([1])

    served, damage = read(good + torn)

    assert served == [(0, 1)]
    assert [(one.offset, one.length, one.reason) for one in damage] == [(len(good), len(torn), reason)]


def test_a_good_last_line_without_a_line_feed_is_served(lines: Lines) -> None:
    assert read(lines([1])[:-1]) == ([(0, 1)], [])


def test_a_line_that_was_begun_before_the_end_is_read_to_its_own(lines: Lines) -> None:
    content = lines([1, 2])

    assert read(content, end=len(content) - 5) == ([(0, 1), (len(content) // 2, 2)], [])


def test_nothing_is_read_behind_an_end_at_a_line(lines: Lines) -> None:
    assert read(lines([1]), end=0) == ([], [])


def test_lines_longer_than_a_block_are_put_together(lines: Lines) -> None:
    long = b'{"v":2,"x":"' + b"z" * 300_000 + b'"}\n'

    assert read(long + lines([4])) == ([(0, None), (len(long), 4)], [])


def test_a_huge_line_is_not_kept_in_memory() -> None:
    length = 10 * MAX_LINE_BYTES
    tracemalloc.start()

    found = list(read_lines(lambda size, offset: bytes(min(size, length - offset)), 0, length, "f"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (found, peak < 2 * MAX_LINE_BYTES) == ([Damage("f", 0, length, "too_long")], True)
