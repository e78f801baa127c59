"""The arguments of a query as a search, and what is refused under which name."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import ToolError
from app.recall.age import Moment
from app.recall.cursor import write_cursor
from app.recall.projection import token
from app.records.claims import Place, Search, Term
from app.redact import Redactor
from app.tools.recall_arguments import QueryArguments
from app.tools.recall_search import bound, place_of, search_of
from app.tools.tool import validate

NOW = Moment(1_000_000 * 10**9, 0)
REDACTOR = Redactor(b"k" * 32)


def params(**given: Any) -> QueryArguments:
    return validate(QueryArguments, {"project": "p"} | given)


def search(doubt_us: int = 0, tokenizer: Any = "words", **given: Any) -> Search:
    return search_of(params(**given), REDACTOR, tokenizer, NOW, 60, doubt_us)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Search()),
        (
            {"text": 'red "big apple" -appl*'},
            Search(wanted=(Term("red"), Term("big apple")), unwanted=(Term("appl", is_prefix=True),)),
        ),
        ({"tags": ["a", "b"]}, Search(all_of=(token("tag", "a"), token("tag", "b")))),
        ({"any_tags": ["a", "b"]}, Search(any_of=(token("tag", "a"), token("tag", "b")))),
        ({"observed_by": "me"}, Search(all_of=(token("observed_by", "me"),))),
        ({"target": "h.test:80"}, Search(all_of=(token("target", "h.test:80"),))),
        ({"target": "H.Test.:80"}, Search(all_of=(token("target", "h.test:80"),))),
        ({"target": "[0:0::1]:80"}, Search(all_of=(token("target", "[::1]:80"),))),
        (
            {"asserted_after": "1970-01-01T00:00:01Z", "asserted_before": "1970-01-01T01:00:02+01:00"},
            Search(asserted_from=1_000_000, asserted_until=2_000_000),
        ),
        ({"retracted": "only"}, Search(retracted="only")),
        ({"order": "oldest"}, Search(order="oldest")),
        ({"order": "match", "text": "red"}, Search(order="match", wanted=(Term("red"),))),
        ({"stale": True}, Search(basis_until=999_940_000_000)),
        ({"stale": False}, Search(basis_from=999_940_000_000)),
        ({"limit": 7, "detail": "full", "stale_after_seconds": 1}, Search()),
    ],
)
def test_arguments_become_a_search(given: dict[str, Any], expected: Search) -> None:
    assert search(**given) == expected


@pytest.mark.parametrize(
    ("stale", "expected"),
    [(True, Search(basis_until=999_945_000_000)), (False, Search(basis_from=999_935_000_000))],
)
def test_in_doubt_more_is_looked_at_on_the_safe_side(stale: bool, expected: Search) -> None:  # noqa: FBT001 - a column
    assert search(5_000_000, stale=stale) == expected


@pytest.mark.parametrize("field", ["tags", "any_tags", "observed_by"])
def test_what_was_masked_when_it_was_stored_is_masked_when_it_is_looked_for(field: str) -> None:
    secret = "password=hunter2hunter2"
    kind = "observed_by" if field == "observed_by" else "tag"

    given: Any = secret if field == "observed_by" else [secret]
    made = search(**{field: given})

    assert made.all_of + made.any_of == (token(kind, REDACTOR.text(secret)),)
    assert REDACTOR.text(secret) != secret


@pytest.mark.parametrize(
    ("given", "field", "why"),
    [
        ({"text": '"red'}, "text", "a quotation mark has no partner"),
        ({"text": "   "}, "text", "there is no word in it"),
        ({"text": "ab", "tokenizer": "trigram"}, "text", "a word needs 3 characters"),
        ({"target": "h.test"}, "target", ""),
        ({"target": "http://h.test:80"}, "target", ""),
        ({"target": "h.test:99999"}, "target", ""),
        ({"asserted_after": "2026-03-01"}, "asserted_after", "expected a date and time with an offset"),
        (
            {"asserted_before": "2026-03-01T10:00:00"},
            "asserted_before",
            "expected a date and time with an offset",
        ),
        ({"asserted_before": "2026-02-30T10:00:00Z"}, "asserted_before", "no such date and time"),
        ({"asserted_after": ""}, "asserted_after", "expected a date and time with an offset"),
        ({"order": "match"}, "order", "match orders by text, so it needs text"),
    ],
)
def test_what_is_not_understood_is_refused_under_its_name(
    given: dict[str, Any], field: str, why: str
) -> None:
    with pytest.raises(ToolError) as refused:
        search(**given)

    content = refused.value.content()
    assert (content["code"], content["field"], content["reason_code"]) == (
        "invalid_arguments",
        field,
        "bad_input",
    )
    assert content["message"].startswith(f"{field}: {why}")


def test_without_a_cursor_the_first_page_is_asked_for() -> None:
    assert place_of(params(), "p") is None


def test_a_cursor_says_where_the_page_before_ended() -> None:
    cursor = write_cursor(Place(7), bound(params(text="red", project="My P"), "my-p"))
    again = params(text="red", project="my p", cursor=cursor, limit=3, detail="full")

    assert place_of(again, "my-p") == Place(7)


def test_a_cursor_of_another_project_is_refused() -> None:
    cursor = write_cursor(Place(7), bound(params(text="red"), "p"))

    with pytest.raises(ToolError, match="it belongs to a query with other arguments"):
        place_of(params(text="red", project="q", cursor=cursor), "q")


@pytest.mark.parametrize(
    ("cursor", "why"),
    [
        ("nonsense", "expected next_cursor of the page before"),
        (None, "it belongs to a query with other arguments"),
    ],
)
def test_a_cursor_of_nothing_or_of_another_query_is_refused(cursor: str | None, why: str) -> None:
    with pytest.raises(ToolError) as refused:
        place_of(params(cursor=cursor or write_cursor(Place(7), {"text": "green"})), "p")

    assert (refused.value.code, refused.value.field) == ("invalid_arguments", "cursor")
    assert refused.value.message == f"cursor: {why}"


def test_a_filter_of_every_kind_finds_what_it_names_and_nothing_else(desk: Any, clock: Any) -> None:
    cited = {"type": "observation", "observation_id": desk.observe()}
    desk.call("assert", statement="red apple", observed_by="me", tags=["a", "b"], evidence=[cited])
    clock.pass_by(10)
    desk.call("assert", statement="green apple", observed_by="you", tags=["b"])

    asked: list[dict[str, Any]] = [
        {"text": "red"},
        {"text": "apple -green"},
        {"tags": ["a", "b"]},
        {"any_tags": ["a", "c"]},
        {"observed_by": "me"},
        {"target": "127.0.0.1:8080"},
        {"asserted_before": "2026-03-01T10:00:10Z"},
        {"order": "oldest", "limit": 1},
        {"text": "apple", "order": "match", "tags": ["a"]},
    ]
    found = [[claim["statement"] for claim in desk.call("query", **each)["claims"]] for each in asked]
    assert found == [["red apple"]] * len(asked)
    assert (
        desk.call("query", asserted_after="2026-03-01T10:00:10Z")["claims"][0]["statement"] == "green apple"
    )
    assert desk.call("query", target="127.0.0.1:8081")["claims"] == []


def test_chinese_is_found_where_parts_of_words_are_indexed(open_desk: Any) -> None:
    desk = open_desk(tokenizer="trigram")
    desk.call("assert", statement="服务在端口上监听", observed_by="me")

    assert [desk.call("query", text=text)["matched"] for text in ("端口上", "端口下")] == [1, 0]
