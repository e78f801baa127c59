"""A search as an expression: every text is quoted, every filter stands for its own column."""

from __future__ import annotations

import pytest

from app.records.claims import Search, Term
from app.store.match import match

NOT_RETRACTED = 'NOT (f : "xretracted;")'


@pytest.mark.parametrize(
    ("search", "expression"),
    [
        pytest.param(Search(wanted=(Term("a"),)), f'(text : "a") {NOT_RETRACTED}', id="a word"),
        pytest.param(
            Search(wanted=(Term("a b"), Term("c", is_prefix=True))),
            f'(text : "a b" AND text : "c" *) {NOT_RETRACTED}',
            id="a phrase and a prefix",
        ),
        pytest.param(
            Search(wanted=(Term('a" OR "b'),)), f'(text : "a"" OR ""b") {NOT_RETRACTED}', id="quotes"
        ),
        pytest.param(
            Search(unwanted=(Term("a"), Term("b"))),
            '(f : "xall;") NOT (f : "xretracted;" OR text : "a" OR text : "b")',
            id="only what must not be there",
        ),
        pytest.param(
            Search(all_of=("x1;", "x2;")),
            f'(f : "x1;" AND f : "x2;") {NOT_RETRACTED}',
            id="all of some filters",
        ),
        pytest.param(
            Search(any_of=("x1;", "x2;"), wanted=(Term("a"),)),
            f'((f : "x1;" OR f : "x2;") AND text : "a") {NOT_RETRACTED}',
            id="any of some filters",
        ),
        pytest.param(
            Search(wanted=(Term("a"),), retracted="only"),
            'f : "xretracted;" AND text : "a"',
            id="only retracted",
        ),
        pytest.param(Search(wanted=(Term("a"),), retracted="include"), 'text : "a"', id="retracted ones too"),
        pytest.param(
            Search(unwanted=(Term("a"),), retracted="include"),
            '(f : "xall;") NOT (text : "a")',
            id="unwanted, retracted ones too",
        ),
    ],
)
def test_a_search_becomes_one_expression(search: Search, expression: str) -> None:
    assert match(search) == expression


@pytest.mark.parametrize(
    "search",
    [Search(), Search(retracted="only"), Search(asserted_from=1, basis_until=2, order="oldest")],
    ids=["nothing asked", "only retracted ones", "only times"],
)
def test_a_search_without_text_and_filters_has_none(search: Search) -> None:
    assert match(search) is None
