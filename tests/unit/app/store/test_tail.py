"""The end of a log, read backwards."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from app.records.codec import MAX_LINE_BYTES, Place
from app.store.tail import BLOCK_BYTES, ReadAt, Tail, lines_backwards, read_tail, unfinished

Lines = Callable[[Sequence[int]], bytes]


def reader(content: bytes, sizes: list[int] | None = None) -> ReadAt:
    def read_at(size: int, offset: int) -> bytes:
        if sizes is not None:
            sizes.append(size)
        return content[offset : offset + size]

    return read_at


def test_an_empty_log_has_no_place() -> None:
    assert read_tail(reader(b""), 0, 0) == Tail(None, 0, None)


def test_the_last_good_line_is_the_place(lines: Lines) -> None:
    content = lines([1, 2, 3])

    assert read_tail(reader(content), 0, len(content)) == Tail(Place(3, 3), len(content), None)


def test_a_last_line_without_a_line_feed_counts_and_starts_where_it_starts(lines: Lines) -> None:
    content = lines([1, 2])[:-1]

    assert read_tail(reader(content), 0, len(content)) == Tail(Place(2, 2), len(lines([1])), None)


@pytest.mark.parametrize(
    ("rubbish", "length", "reason"),
    [
        pytest.param(b'{"v":1', 6, "torn", id="a torn line"),
        pytest.param(b"\0" * 9, 9, "nul", id="a zeroed block"),
        pytest.param(b"x\ny\n", 3, "not_json", id="two bad lines are one range"),
        pytest.param(b"\n", 0, "blank", id="an empty line"),
        pytest.param(b"x\n{", 3, "torn", id="a bad line and a torn one"),
    ],
)
def test_what_stands_behind_it_is_damage(lines: Lines, rubbish: bytes, length: int, reason: str) -> None:
    good = lines([1, 2])
    content = good + rubbish

    tail = read_tail(reader(content), 0, len(content))

    assert (tail.place, tail.damage) == (Place(2, 2), (len(good), length, reason))


def test_a_later_line_without_a_place_is_no_damage(lines: Lines) -> None:
    content = lines([5]) + b'{"v":2}\n'

    assert read_tail(reader(content), 0, len(content)) == Tail(Place(5, 5), len(content), None)


def test_only_the_tail_of_a_large_log_is_read(lines: Lines) -> None:
    content = b"x\n" * 500_000 + lines([7])
    sizes: list[int] = []

    tail = read_tail(reader(content, sizes), 0, len(content))

    assert (tail.place, sum(sizes)) == (Place(7, 7), BLOCK_BYTES)


def test_nothing_before_the_start_is_looked_at(lines: Lines) -> None:
    content = lines([1]) + b"x"

    assert read_tail(reader(content), len(content) - 1, len(content)).place is None


@pytest.mark.parametrize("length", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7])
def test_lines_come_back_whole_whatever_the_blocks(length: int) -> None:
    content = b"first\n" + b"y" * length + b"\nlast"

    assert list(lines_backwards(reader(content), 0, len(content))) == [
        (7 + length, b"last"),
        (6, b"y" * length),
        (0, b"first"),
    ]


def test_a_line_beyond_the_limit_is_passed_over_without_being_kept() -> None:
    content = b"first\n" + b"y" * (MAX_LINE_BYTES + 1) + b"\n"

    found = list(lines_backwards(reader(content), 0, len(content)))

    assert found == [(len(content), b""), (6, None), (0, b"first")]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("not_json", "torn"), ("nul", "nul"), ("too_long", "too_long"), ("not_utf8", "torn")],
)
def test_damage_without_a_line_feed_is_torn_unless_it_never_was_a_line(reason: object, expected: str) -> None:
    assert unfinished(reason) == expected  # type: ignore[arg-type]  # a column of the table


def test_a_huge_line_is_not_kept_in_memory() -> None:
    length = 10 * MAX_LINE_BYTES
    tracemalloc.start()

    found = list(lines_backwards(lambda size, _offset: bytes(size), 0, length))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (found, peak < 2 * MAX_LINE_BYTES) == ([(0, None)], True)
