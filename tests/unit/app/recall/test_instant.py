"""Instants: RFC 3339 with an offset, or refused; a stored one is never refused."""

from __future__ import annotations

import pytest

from app.recall.instant import BadInstant, microseconds, stored_us

TEN = 1_772_359_200_000_000
"""2026-03-01T10:00:00Z in microseconds."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T10:00:00Z", TEN),
        ("2026-03-01t10:00:00z", TEN),
        ("2026-03-01 10:00:00Z", TEN),
        ("2026-03-01T11:00:00+01:00", TEN),
        ("2026-03-01T00:30:00-09:30", TEN),
        ("2026-03-01T10:00:00-00:00", TEN),
        ("2026-03-01T10:00:00.5Z", TEN + 500_000),
        ("2026-03-01T10:00:00.000001Z", TEN + 1),
        ("2026-03-01T10:00:00.000001999Z", TEN + 1),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_an_instant_is_understood_in_every_spelling(text: str, expected: int) -> None:
    assert microseconds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-03-01T10:00:00", id="no offset"),
        pytest.param("2026-03-01", id="a date alone"),
        pytest.param("10:00:00Z", id="a time alone"),
        pytest.param("2026-03-01T10:00Z", id="no seconds"),
        pytest.param("2026-03-01T10:00:00+0100", id="an offset without colon"),
        pytest.param("2026-03-01T10:00:00.Z", id="a point without digits"),
        pytest.param("2026-03-01T10:00:00.0000000000Z", id="ten digits"),
        pytest.param("2026-W09-7T10:00:00Z", id="a week"),
        pytest.param("20260301T100000Z", id="the basic form"),
        pytest.param("1772359200", id="a number"),
        pytest.param("yesterday", id="a word"),
        pytest.param("", id="nothing"),
        pytest.param(" 2026-03-01T10:00:00Z", id="a space in front"),
        pytest.param("2026-03-01T10:00:00Z\n", id="a line feed behind"),
        pytest.param("२०२६-03-01T10:00:00Z", id="other digits"),
    ],
)
def test_what_says_no_instant_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInstant, match="expected a date and time with an offset, such as"):
        microseconds(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-02-30T10:00:00Z", id="no such day"),
        pytest.param("2026-02-29T10:00:00Z", id="no leap year"),
        pytest.param("2026-03-01T24:00:01Z", id="no such hour"),
        pytest.param("2026-06-30T23:59:60Z", id="a leap second"),
        pytest.param("2026-03-01T10:00:00+24:00", id="no such offset"),
        pytest.param("0000-01-01T00:00:00Z", id="year 0"),
        pytest.param("0001-01-01T00:00:00+01:00", id="before year 1 in UTC"),
        pytest.param("9999-12-31T23:59:59-01:00", id="after year 9999 in UTC"),
    ],
)
def test_what_no_calendar_has_is_refused(text: str) -> None:
    with pytest.raises(BadInstant, match="no such date and time in the years 1 to 9999"):
        microseconds(text)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        pytest.param("2026-03-01T10:00:00.000001Z", TEN + 1, id="as we write it"),
        pytest.param("2026-03-01T11:00:00+01:00", TEN, id="with another offset"),
        pytest.param("2026-03-01t10:00:00z", TEN, id="in lower case"),
        pytest.param("2026-03-01T10:00:00", 0, id="without an offset"),
        pytest.param("long ago", 0, id="no time"),
        pytest.param("2026-02-30T10:00:00Z", 0, id="no such day"),
        pytest.param(None, 0, id="null"),
        pytest.param(7, 0, id="a number"),
        pytest.param(["2026-03-01T10:00:00Z"], 0, id="a list"),
    ],
)
def test_an_odd_stored_time_counts_as_the_oldest(stored: object, expected: int) -> None:
    assert stored_us(stored) == expected
