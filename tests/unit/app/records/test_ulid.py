"""ULIDs: one greater than the last, whatever the clock says, and the texts in the order of the numbers."""

from __future__ import annotations

import pytest

from app.records.ulid import LAST, UlidExhausted, next_ulid, ulid_text, ulid_texts, ulid_value

ONES = (1 << 80) - 1
TOP_MS = (1 << 48) - 1


@pytest.mark.parametrize(
    ("now_ms", "floor", "random80", "expected"),
    [
        pytest.param(5, None, 9, (5 << 80) | 9, id="the first one is the clock and the randomness"),
        pytest.param(6, (5 << 80) | 9, 1, (6 << 80) | 1, id="a later millisecond takes new randomness"),
        pytest.param(5, (5 << 80) | 9, 1, (5 << 80) | 10, id="the same millisecond counts up"),
        pytest.param(1, (5 << 80) | 9, 1, (5 << 80) | 10, id="a clock that went back counts up"),
        pytest.param(5, (5 << 80) | ONES, 1, 6 << 80, id="full randomness carries into the millisecond"),
        pytest.param(-3, None, 9, 9, id="a time before 1970 counts as 1970"),
        pytest.param(TOP_MS, None, ONES, LAST, id="the very last one is given out"),
    ],
)
def test_the_next_ulid(now_ms: int, floor: int | None, random80: int, expected: int) -> None:
    assert next_ulid(now_ms, floor, random80) == expected


@pytest.mark.parametrize(
    ("now_ms", "floor"),
    [
        pytest.param(TOP_MS, LAST, id="nothing is greater than the last"),
        pytest.param(0, LAST, id="nor when the clock went back"),
        pytest.param(TOP_MS + 1, None, id="the clock is beyond the range"),
    ],
)
def test_the_end_of_the_range_is_an_error_of_its_own(now_ms: int, floor: int | None) -> None:
    with pytest.raises(UlidExhausted):
        next_ulid(now_ms, floor, 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0, "0" * 26, id="zero"),
        pytest.param(LAST, "7" + "Z" * 25, id="the last"),
        pytest.param(31, "0" * 25 + "Z", id="one digit"),
        pytest.param(1 << 80, "0000000001" + "0" * 16, id="one millisecond"),
    ],
)
def test_text_and_value(value: int, text: str) -> None:
    assert (ulid_text(value), ulid_value(text)) == (text, value)


@pytest.mark.parametrize("first", [0, 1000, 1023, (1 << 40) - 3, LAST - 2999])
def test_texts_of_a_run_are_the_texts_one_by_one(first: int) -> None:
    assert ulid_texts(first, 3000) == [ulid_text(value) for value in range(first, first + 3000)]


def test_a_run_does_not_go_beyond_the_last() -> None:
    with pytest.raises(UlidExhausted):
        ulid_texts(LAST - 1, 3)


@pytest.mark.parametrize(
    "text", ["", "0" * 25, "0" * 27, "8" + "0" * 25, "o" + "0" * 25, "U" + "0" * 25, "ß" * 26]
)
def test_other_texts_are_no_ulid(text: str) -> None:
    assert ulid_value(text) is None
