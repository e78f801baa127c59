"""Pages of claims out of the index: newest first by number, oldest first, or the newest hits in the order of match."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from app.records.claims import Place, Search
from app.store.index_apply import Known
from app.store.match import match

MATCHED_AT_MOST: Final = 10_000
"""Counted exactly up to here; beyond, one answer would wait for all hits of a common word."""
ORDERED_AT_MOST: Final = 2_000
"""How many of the newest hits an order by match looks at."""

_COLUMNS: Final = "c.n, c.position, c.length, c.retracted"
_LAST: Final = 2**62


class Hit(NamedTuple):
    """A claim that was found, its id, and where a page goes on that ends with it."""

    claim: Known
    ulid: bytes
    place: Place


class Page(NamedTuple):
    """Claims in the order asked for, and whether there are more behind them."""

    hits: list[Hit]
    has_more: bool


class _Where(NamedTuple):
    """The tables of a search, what holds for their rows, and its parameters by name.

    `windows` hold too. A plus before their columns keeps the planner from sorting a million rows by number that are
    in this order already; where a window has few rows it is left to choose.
    """

    tables: str
    number: str
    conditions: list[str]
    windows: list[str]
    values: dict[str, str | int]

    def in_order(self, *more: str, ending: str) -> str:
        """The numbers of the rows, looked at in their order."""
        windows = [window.replace("c.", "+c.") for window in self.windows]
        return self.sql(self.number, *windows, *more, ending=ending)

    def behind(self, search: Search, place: Place) -> str:
        """What holds for the rows that come after a place, where the order is that of the numbers."""
        return f"{self.number} {'<' if search.order == 'newest' else '>'} {place.last}"

    def sql(self, what: str, *more: str, ending: str = "") -> str:
        conditions = " AND ".join([*self.conditions, *more]) or "1"
        return f"SELECT {what} FROM {self.tables} WHERE {conditions} {ending}"  # noqa: S608 - texts of this module


def page(connection: sqlite3.Connection, search: Search, place: Place | None, limit: int) -> Page:
    """At most `limit` claims behind `place`, or from the beginning."""
    where = _where(connection, search)
    if search.order == "match":
        return _by_match(connection, where, place, limit)
    direction = "DESC" if search.order == "newest" else "ASC"
    more = [] if place is None else [where.behind(search, place)]
    sql = where.in_order(*more, ending=f"ORDER BY {where.number} {direction} LIMIT :limit")
    numbers = [found[0] for found in connection.execute(sql, {**where.values, "limit": limit + 1})]
    hits = _hits(connection, {n: Place(last=n) for n in numbers[:limit]})
    return Page(hits, len(numbers) > limit)


def matched(connection: sqlite3.Connection, search: Search, first: Page | None = None) -> tuple[int, bool]:
    """How many claims the search finds, and whether that is exact: it is up to `MATCHED_AT_MOST`.

    Behind a `first` page only the others are counted, for a common word is long to read.
    """
    if first is not None and not first.has_more:
        return len(first.hits), True
    where = _where(connection, search)
    more, known = [*where.windows], 0
    if first is not None and first.hits and search.order != "match":
        more.append(where.behind(search, first.hits[-1].place))
        known = len(first.hits)
    counted = f"SELECT count(*) FROM ({where.sql('1', *more, ending='LIMIT :most')})"  # noqa: S608 - as above
    (count,) = connection.execute(counted, {**where.values, "most": MATCHED_AT_MOST + 1 - known}).fetchone()
    return min(known + count, MATCHED_AT_MOST), known + count <= MATCHED_AT_MOST


def _by_match(connection: sqlite3.Connection, where: _Where, place: Place | None, limit: int) -> Page:
    """The window of the newest hits is chosen with the first page and carried on by the cursor."""
    if place is None:
        newest = where.in_order(ending="ORDER BY fts.rowid DESC LIMIT 1 OFFSET :skip")
        found = [connection.execute(newest, {**where.values, "skip": skip}).fetchone() for skip in _ENDS]
        place = Place(highest=found[0][0] if found[0] else 0, lowest=found[1][0] if found[1] else 0)
    window = {"lowest": place.lowest, "highest": place.highest, "limit": limit + 1, "skip": place.offset}
    ending = "ORDER BY bm25(fts, 1.0, 0.0), fts.rowid DESC LIMIT :limit OFFSET :skip"
    sql = where.in_order("fts.rowid BETWEEN :lowest AND :highest", ending=ending)
    numbers = [found[0] for found in connection.execute(sql, {**where.values, **window})]
    places = {
        n: Place(lowest=place.lowest, highest=place.highest, offset=offset)
        for offset, n in enumerate(numbers[:limit], place.offset + 1)
    }
    return Page(_hits(connection, places), len(numbers) > limit)


_ENDS: Final = (0, ORDERED_AT_MOST - 1)


def _where(connection: sqlite3.Connection, search: Search) -> _Where:
    expression = match(search)
    number = "c.n" if expression is None else "fts.rowid"
    conditions, windows, values = _windows(connection, search, number)
    if expression is None:
        if search.retracted != "include":
            is_retracted = "IS NULL" if search.retracted == "exclude" else "IS NOT NULL"
            conditions.append(f"c.retracted {is_retracted}")
        return _Where("claims c", number, conditions, windows, values)
    # A cross join is never turned around: the text index leads, whatever the planner thinks of it.
    tables = "fts CROSS JOIN claims c ON c.n = fts.rowid" if values else "fts"
    return _Where(tables, number, ["fts MATCH :match", *conditions], windows, {**values, "match": expression})


def _windows(
    connection: sqlite3.Connection, search: Search, number: str
) -> tuple[list[str], list[str], dict[str, str | int]]:
    """Bounds of the numbers, the windows that the planner is to leave alone, and the values of both."""
    conditions: list[str] = []
    windows: list[str] = []
    values: dict[str, str | int] = {}
    for column, begin, end in (
        ("asserted_us", search.asserted_from, search.asserted_until),
        ("basis_us", search.basis_from, search.basis_until),
    ):
        if begin is None and end is None:
            continue
        values |= {
            f"{column}_from": -_LAST if begin is None else begin,
            f"{column}_until": _LAST if end is None else end,
        }
        window = f"c.{column} >= :{column}_from AND c.{column} < :{column}_until"
        numbers = _numbers(connection, window, values)
        if numbers is None:
            windows.append(window)
        else:
            conditions += [window, f"{number} BETWEEN {numbers[0]} AND {numbers[1]}"]
    if search.asserted_until is not None:
        conditions.append(f"{number} <= {_last_before(connection, search.asserted_until)}")
    return conditions, windows, values


def _numbers(
    connection: sqlite3.Connection, window: str, values: dict[str, str | int]
) -> tuple[int, int] | None:
    """The least and the greatest number in a window of few claims: a search need not look beyond them."""
    few = f"SELECT c.n FROM claims c WHERE {window} LIMIT {MATCHED_AT_MOST + 1}"  # noqa: S608 - as above
    ends = f"SELECT min(n), max(n), count(*) FROM ({few})"  # noqa: S608 - as above
    least, most, count = connection.execute(ends, values).fetchone()
    return None if count > MATCHED_AT_MOST else (least or 0, most or 0)


def _last_before(connection: sqlite3.Connection, asserted_until: int) -> int:
    """The greatest number that a claim from before can have: times grow with numbers, but for late ones."""
    found = connection.execute(
        "SELECT n FROM claims WHERE asserted_us < ? ORDER BY asserted_us DESC, n DESC LIMIT 1",
        (asserted_until,),
    ).fetchone()
    late = connection.execute("SELECT value FROM meta WHERE name='late'").fetchone()
    return max(found[0] if found else 0, late[0] if late else 0)


def _hits(connection: sqlite3.Connection, places: dict[int, Place]) -> list[Hit]:
    """The claims with these numbers, in this order."""
    marks = ",".join("?" * len(places))
    sql = f"SELECT {_COLUMNS}, c.ulid FROM claims c WHERE c.n IN ({marks})"  # noqa: S608 - as above
    found = {claim[0]: (Known(*claim), ulid) for *claim, ulid in connection.execute(sql, list(places))}
    return [Hit(*found[n], place) for n, place in places.items() if n in found]
