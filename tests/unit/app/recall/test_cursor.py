"""Cursors: they come back as the place they were made of, for the same query and for no other."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from app.recall.cursor import BadCursor, read_cursor, write_cursor
from app.records.claims import Place

PLACE = Place(7, 1, 9, 40)
QUERY: dict[str, Any] = {
    "project": "p",
    "text": "red",
    "tags": ["a"],
    "stale": None,
    "limit": 20,
    "cursor": None,
    "detail": "brief",
}


@pytest.mark.parametrize(
    ("place", "length"), [(PLACE, 100), (Place(), 80), (Place(2**62, 2**62, 2**62, 2**62), 512)]
)
def test_a_cursor_comes_back_as_the_place_it_was_made_of(place: Place, length: int) -> None:
    text = write_cursor(place, QUERY)

    assert read_cursor(text, QUERY) == place
    assert len(text) < length


@pytest.mark.parametrize(
    "change",
    [{"limit": 1}, {"detail": "full"}, {"cursor": "the cursor itself"}],
    ids=lambda change: next(iter(change)),
)
def test_what_may_change_from_page_to_page_is_not_bound(change: dict[str, Any]) -> None:
    assert read_cursor(write_cursor(PLACE, QUERY), QUERY | change) == PLACE


@pytest.mark.parametrize(
    "change",
    [
        {"text": "green"},
        {"tags": []},
        {"tags": ["a", "b"]},
        {"stale": False},
        {"order": "oldest"},
        {"project": "q"},
    ],
    ids=str,
)
def test_a_cursor_of_another_query_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadCursor, match="it belongs to a query with other arguments"):
        read_cursor(write_cursor(PLACE, QUERY), QUERY | change)


def test_the_order_in_which_arguments_are_given_does_not_matter() -> None:
    backwards = dict(reversed(QUERY.items()))

    assert write_cursor(PLACE, backwards) == write_cursor(PLACE, QUERY)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("x", id="one letter"),
        pytest.param("!!!!", id="no base64"),
        pytest.param("ü", id="not ASCII"),
        pytest.param("AAAAAAAA", id="a mark alone"),
        pytest.param(urlsafe_b64encode(b"012345[1]").decode(), id="a list"),
        pytest.param(urlsafe_b64encode(b'012345{"last":-1}').decode(), id="a negative number"),
        pytest.param(
            urlsafe_b64encode(b'012345{"last":9223372036854775808}').decode(), id="too large a number"
        ),
        pytest.param(urlsafe_b64encode(b'012345{"last":"1"}').decode(), id="a text for a number"),
        pytest.param(urlsafe_b64encode(b'012345{"last":\xff}').decode(), id="not UTF-8"),
        pytest.param(urlsafe_b64encode(b"012345" + b"[" * 300).decode(), id="deep nesting"),
    ],
)
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(BadCursor, match="expected next_cursor of the page before"):
        read_cursor(text, QUERY)


def test_a_cursor_does_not_show_what_was_asked_for() -> None:
    text = write_cursor(PLACE, QUERY | {"text": "hunter2hunter2"})

    assert "hunter2" not in text
    assert text.isascii()
    assert "=" not in text
