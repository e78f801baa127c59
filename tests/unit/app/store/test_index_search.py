"""Pages out of an index: every claim that is asked for, once, in the order asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.recall.projection import token
from app.records.claims import Place as Spot
from app.records.claims import Search, Term
from app.store import index_search
from app.store.index import ClaimIndex
from app.store.index_search import Page, matched, page

Claim = Callable[..., bytes]
Numbers = Callable[..., list[int]]
Open = Callable[..., ClaimIndex]
Place = Callable[..., Path]
DAY = 86_400_000_000
DAY_1 = 1_767_225_600_000_000  # 2026-01-01 in microseconds


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00.000000Z"


def on_days(claim: Claim, days: list[int], statement: str = "a claim") -> bytes:
    """One claim a day of this list, numbered from 1."""
    return b"".join(claim(number, statement, at=day(each)) for number, each in enumerate(days, 1))


def pages(index: ClaimIndex, search: Search, limit: int, between: Callable[[int], object]) -> list[int]:
    """All pages one after another; `between` is called behind each with its number."""
    found: list[int] = []
    place: Spot | None = None
    for number in range(100):
        index.catch_up()
        start = place
        one = index.read(lambda connection, start=start: page(connection, search, start, limit))  # type: ignore[misc]
        found += [hit.claim.n for hit in one.hits]
        if not one.has_more:
            return found
        assert len(one.hits) == limit
        place = one.hits[-1].place
        between(number)
    raise AssertionError("the pages have no end")


def test_newest_come_first_unless_asked_otherwise(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    place(claim(1) + claim(2) + claim(3), "claims")
    index = open_index()

    assert numbers(index) == [3, 2, 1]
    assert numbers(index, order="oldest") == [1, 2, 3]
    assert numbers(index, wanted=(Term("claim"),), order="oldest") == [1, 2, 3]


@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
@pytest.mark.parametrize(("retracted", "found"), [("exclude", [3, 1]), ("include", [3, 2, 1]), ("only", [2])])
def test_retracted_claims_are_left_out_shown_or_asked_for(
    open_index: Open,
    place: Place,
    claim: Claim,
    retraction: Callable[[int, int], bytes],
    numbers: Numbers,
    text: tuple[Term, ...],
    retracted: str,
    found: list[int],
) -> None:
    place(claim(1) + claim(2) + claim(3) + retraction(4, 2), "claims")

    assert numbers(open_index(), wanted=text, retracted=retracted) == found


@pytest.mark.parametrize(
    ("search", "found"),
    [
        pytest.param({"wanted": (Term("red"),)}, [3, 1], id="a word"),
        pytest.param({"wanted": (Term("RED"), Term("apple"))}, [1], id="two words, whatever their case"),
        pytest.param({"wanted": (Term("apple red"),)}, [], id="a phrase that is not there"),
        pytest.param({"wanted": (Term("red apple"),)}, [1], id="a phrase"),
        pytest.param({"wanted": (Term("app", is_prefix=True),)}, [4, 2, 1], id="a prefix"),
        pytest.param({"unwanted": (Term("red"),)}, [4, 2], id="without a word"),
        pytest.param(
            {"wanted": (Term("apple"),), "unwanted": (Term("red"),)}, [2], id="a word and not another"
        ),
        pytest.param({"wanted": (Term("xall"),)}, [], id="a filter of every row is no word"),
        pytest.param({"all_of": (token("tag", "fruit"),)}, [2, 1], id="a tag"),
        pytest.param({"all_of": (token("tag", "fruit"), token("tag", "green"))}, [2], id="two tags"),
        pytest.param({"any_of": (token("tag", "green"), token("tag", "no"))}, [4, 2], id="one of two tags"),
        pytest.param({"all_of": (token("observed_by", "me"),)}, [4, 3, 2, 1], id="an asserter"),
        pytest.param({"all_of": (token("observed_by", "fruit"),)}, [], id="a tag is no asserter"),
        pytest.param({"all_of": (token("tag", "Fruit"),)}, [], id="a tag in another case"),
    ],
)
def test_a_search_finds_exactly_what_it_asks_for(
    open_index: Open,
    place: Place,
    claim: Claim,
    numbers: Numbers,
    search: dict[str, Any],
    found: list[int],
) -> None:
    lines = [
        claim(1, "A red apple", tags=["fruit"]),
        claim(2, "a green apple", tags=["fruit", "green"]),
        claim(3, "a red car"),
        claim(4, "an appliance", tags=["green"]),
    ]
    place(b"".join(lines), "claims")

    assert numbers(open_index(), **search) == found


@pytest.mark.parametrize("order", ["newest", "oldest", "match"])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
def test_pages_are_complete_and_repeat_nothing_while_claims_are_added(
    open_index: Open, place: Place, claim: Claim, order: str, limit: int, text: tuple[Term, ...]
) -> None:
    if order == "match" and not text:
        return
    path = place(b"".join(map(claim, range(1, 8))), "claims")
    index = open_index()

    def add(count: int) -> None:
        if count < 4:
            with path.open("ab") as file:
                file.write(claim(100 + count))

    found = pages(index, Search(wanted=text, order=order), limit, add)  # type: ignore[arg-type]

    there = [number for number in found if number <= 7]
    assert sorted(there) == list(range(1, 8))
    assert len(set(found)) == len(found)
    assert (there, found[len(there) :]) == (
        (sorted(there), sorted(found[len(there) :]))
        if order == "oldest"
        else (sorted(there, reverse=True), [])
    )


def test_an_order_by_match_puts_the_best_of_the_newest_hits_first(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    long = "apple and many more words that are about nothing of the kind at all"
    place(claim(1, "apple apple") + claim(2, long) + claim(3, "an apple") + claim(4, "pear"), "claims")

    assert numbers(open_index(), wanted=(Term("apple"),), order="match") == [1, 3, 2]


def test_an_order_by_match_looks_at_the_newest_hits_alone(
    open_index: Open, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_search, "_ENDS", (0, 2))
    place(b"".join(claim(n, f"apple {'x ' * n}") for n in range(1, 8)), "claims")

    found = pages(open_index(), Search(wanted=(Term("apple"),), order="match"), 2, lambda _number: None)

    assert found == [5, 6, 7]


def test_an_order_by_match_without_hits_is_empty(open_index: Open, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    index = open_index()
    index.catch_up()

    search = Search(wanted=(Term("apple"),), order="match")

    assert index.read(lambda connection: page(connection, search, None, 9)) == Page([], has_more=False)


@pytest.mark.parametrize(
    ("days", "begin", "end", "found"),
    [
        pytest.param([1, 2, 3, 4], 2, 4, [3, 2], id="a window is half open"),
        pytest.param([1, 2, 3, 4], None, 3, [2, 1], id="only an end"),
        pytest.param([1, 2, 3, 4], 3, None, [4, 3], id="only a beginning"),
        pytest.param([1, 2, 3, 4], 5, None, [], id="nothing so late"),
        pytest.param([1, 2, 3, 4], None, 1, [], id="nothing so early"),
        pytest.param([1, 4, 2, 3, 5], None, 3, [3, 1], id="a clock that stepped back, from below"),
        pytest.param([1, 4, 2, 3, 5], 3, 5, [4, 2], id="a clock that stepped back, between"),
        pytest.param([4, 3, 2, 1], None, 2, [4], id="a clock that runs backwards"),
        pytest.param([4, 3, 2, 1], 4, None, [1], id="a clock that runs backwards, from above"),
        pytest.param([2, 2, 2], 2, 3, [3, 2, 1], id="a clock that stands"),
        pytest.param([3, 1, 1, 3], None, 2, [3, 2], id="late ones of one time"),
    ],
)
@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
@pytest.mark.parametrize("few", [0, 10_000], ids=["many in the window", "few in the window"])
def test_times_bound_what_is_found_whatever_the_clock_did(
    open_index: Open,
    place: Place,
    claim: Claim,
    numbers: Numbers,
    monkeypatch: pytest.MonkeyPatch,
    days: list[int],
    begin: int | None,
    end: int | None,
    found: list[int],
    text: tuple[Term, ...],
    few: int,
) -> None:
    monkeypatch.setattr(index_search, "MATCHED_AT_MOST", few)
    place(on_days(claim, days), "claims")
    bounds = [None if each is None else DAY_1 + (each - 1) * DAY for each in (begin, end)]

    index = open_index()

    assert numbers(index, wanted=text, asserted_from=bounds[0], asserted_until=bounds[1]) == found
    oldest = numbers(index, wanted=text, asserted_from=bounds[0], asserted_until=bounds[1], order="oldest")
    assert oldest == found[::-1]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ({"basis_until": DAY_1 + DAY}, [2, 1]),
        ({"basis_from": DAY_1 + DAY}, [3]),
        ({"basis_from": DAY_1 + 1, "basis_until": DAY_1 + 9}, []),
        ({"basis_until": DAY_1 + DAY, "asserted_from": DAY_1 + DAY}, [2]),
    ],
    ids=["old evidence", "new evidence", "none between", "old evidence, asserted later"],
)
@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
def test_the_age_of_evidence_bounds_what_is_found(
    open_index: Open,
    place: Place,
    claim: Claim,
    numbers: Numbers,
    search: dict[str, int],
    found: list[int],
    text: tuple[Term, ...],
) -> None:
    old = {"type": "observation", "observed_at": day(1)}
    new = {"type": "observation", "observed_at": day(3)}
    lines = [
        claim(1, at=day(1)),
        claim(2, at=day(5), evidence=[new, old]),
        claim(3, at=day(5), evidence=[new, {"type": "note", "text": "x"}]),
    ]
    place(b"".join(lines), "claims")

    assert numbers(open_index(), wanted=text, **search) == found


@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
@pytest.mark.parametrize(
    ("most", "count"), [(6, (5, True)), (5, (5, True)), (4, (4, False)), (1, (1, False))]
)
def test_hits_are_counted_exactly_up_to_a_number(
    open_index: Open,
    place: Place,
    claim: Claim,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    count: tuple[int, bool],
    text: tuple[Term, ...],
) -> None:
    monkeypatch.setattr(index_search, "MATCHED_AT_MOST", most)
    place(b"".join(map(claim, range(1, 6))), "claims")
    index = open_index()
    index.catch_up()

    assert index.read(lambda connection: matched(connection, Search(wanted=text))) == count


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("order", ["newest", "oldest", "match"])
@pytest.mark.parametrize(
    "more",
    [{}, {"asserted_from": DAY_1 + DAY}, {"unwanted": (Term("claim 1"),)}],
    ids=["all", "time", "text"],
)
@pytest.mark.parametrize("most", [10, 3])
def test_counting_behind_a_first_page_is_counting_all(
    open_index: Open,
    place: Place,
    claim: Claim,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    order: Any,
    more: dict[str, Any],
    most: int,
) -> None:
    monkeypatch.setattr(index_search, "MATCHED_AT_MOST", most)
    place(b"".join(claim(number, f"claim {number}", at=day(number)) for number in range(1, 6)), "claims")
    index = open_index()
    index.catch_up()
    search = Search(wanted=(Term("claim"),), order=order, **more)

    first = index.read(lambda connection: page(connection, search, None, limit))

    right = (min(4 if more else 5, most), most == 10)
    assert index.read(lambda connection: matched(connection, search)) == right
    assert index.read(lambda connection: matched(connection, search, first)) == (
        right if first.has_more else (len(first.hits), True)
    )


def test_the_promised_numbers_are_these() -> None:
    assert (index_search.MATCHED_AT_MOST, index_search.ORDERED_AT_MOST) == (10_000, 2_000)
    assert index_search._ENDS == (0, 1_999)
