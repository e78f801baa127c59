"""Lines become rows: each claim once, with its first retraction, whatever the order of the lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from app.recall.projection import row
from app.records.claims import Row
from app.records.codec import Damaged, Future, Record, decode
from app.records.ulid import ulid_text
from app.store import index_apply
from app.store.index_apply import Applier, Known, filters, known, ulid_bytes
from app.store.index_schema import DEFINITION
from app.store.lines import read_lines
from app.store.log import Line

Claim = Callable[..., bytes]
Retraction = Callable[[int, int], bytes]


class Table:
    """An index in memory over a log in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._log = b""

    def apply(self, *lines: bytes) -> None:
        """Append these lines to the log and apply them, as one transaction does."""
        begin = len(self._log)
        self._log += b"".join(lines)
        applier = Applier(self.connection, row, self._read_line)
        found = read_lines(lambda size, at: self._log[at : at + size], begin, len(self._log), "f")
        applier.apply(one for one in found if isinstance(one, Line))
        applier.finish()
        self.connection.commit()

    def alter(self, old: bytes, new: bytes) -> None:
        self._log = self._log.replace(old, new)

    def ask(self, sql: str, *values: Any) -> list[Any]:
        return [found[0] if len(found) == 1 else found for found in self.connection.execute(sql, values)]

    def _read_line(self, position: int, length: int) -> Record | None:
        found = decode(self._log[position : position + length])
        assert not isinstance(found, Future)
        return None if isinstance(found, Damaged) else found


@pytest.fixture
def table() -> Iterator[Table]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DEFINITION.format(tokenizer="unicode61"))
        yield Table(connection)


def ulid(number: int) -> bytes:
    return number.to_bytes(16, "big")


def matching(table: Table, expression: str) -> list[Any]:
    return table.ask("SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid", expression)


def test_claims_are_numbered_in_the_order_of_the_log(table: Table, claim: Claim) -> None:
    table.apply(claim(5), claim(7))
    table.apply(claim(9))

    assert table.ask("SELECT n, ulid FROM claims") == [(1, ulid(5)), (2, ulid(7)), (3, ulid(9))]


def test_a_row_says_where_its_line_stands(table: Table, claim: Claim) -> None:
    table.apply(claim(1, "short"), claim(2, "longer"))

    first, second = len(claim(1, "short")), len(claim(2, "longer"))
    assert [known(table.connection, ulid(number)) for number in (1, 2, 3)] == [
        Known(1, 0, first - 1, None),
        Known(2, first, second - 1, None),
        None,
    ]


def test_a_copy_of_a_line_changes_nothing(table: Table, claim: Claim) -> None:
    table.apply(claim(1, "first"), claim(2), claim(1, "copy"))
    table.apply(claim(2, "copy"))

    assert (table.ask("SELECT count(*) FROM claims"), matching(table, "copy")) == ([2], [])


def test_a_claim_with_a_smaller_id_than_those_before_it_is_a_claim(table: Table, claim: Claim) -> None:
    table.apply(claim(9), claim(3))
    table.apply(claim(3), claim(9), claim(4))

    assert table.ask("SELECT ulid FROM claims ORDER BY n") == [ulid(9), ulid(3), ulid(4)]


@pytest.mark.parametrize("together", [True, False], ids=["in one transaction", "in two"])
def test_a_retraction_marks_its_claim(
    table: Table, claim: Claim, retraction: Retraction, *, together: bool
) -> None:
    lines = claim(1, "apple"), claim(2, "apple"), retraction(3, 1)
    table.apply(*lines[: 3 if together else 2])
    table.apply(*lines[3 if together else 2 :])

    position = len(lines[0]) + len(lines[1])
    assert table.ask("SELECT retracted FROM claims ORDER BY n") == [position, None]
    assert matching(table, "apple") == [1, 2]
    assert matching(table, 'f : "xretracted;"') == [1]
    assert table.ask("SELECT * FROM events") == [(ulid(1), position, len(retraction(3, 1)) - 1, "retracted")]


def test_the_first_retraction_stands(table: Table, claim: Claim, retraction: Retraction) -> None:
    table.apply(claim(1), retraction(2, 1), retraction(3, 1))

    assert table.ask("SELECT retracted FROM claims") == [len(claim(1))]
    assert table.ask("SELECT count(*) FROM events") == [2]
    table.connection.execute("INSERT INTO fts(fts) VALUES('integrity-check')")


def test_a_retraction_takes_the_place_of_a_row_of_text(
    table: Table, claim: Claim, retraction: Retraction
) -> None:
    rows = "SELECT substr(block, 1, 1) FROM fts_data WHERE id=1"  # how many FTS5 counts for its averages
    table.apply(claim(1), claim(2))
    before = table.ask(rows)
    table.apply(retraction(3, 1))

    assert (before, table.ask(rows)) == ([b"\x02"], [b"\x02"])


@pytest.mark.parametrize("together", [1, 2, 3])
def test_rows_handed_over_together_are_the_same_rows(
    table: Table, claim: Claim, retraction: Retraction, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(index_apply, "_TOGETHER", together)

    table.apply(
        claim(1), claim(2), claim(2), claim(1), claim(3), retraction(4, 3), retraction(5, 9), claim(9)
    )

    assert table.ask("SELECT ulid FROM claims ORDER BY n") == [ulid(1), ulid(2), ulid(3), ulid(9)]
    assert matching(table, 'f : "xretracted;"') == [3, 4]


def test_a_retraction_before_its_claim_counts(table: Table, claim: Claim, retraction: Retraction) -> None:
    table.apply(retraction(2, 7), retraction(3, 7))
    table.apply(claim(7, "joined"))

    assert table.ask("SELECT retracted FROM claims") == [0]
    assert matching(table, 'joined AND f : "xretracted;"') == [1]


def test_a_retraction_of_nothing_is_kept_and_harms_nobody(
    table: Table, claim: Claim, retraction: Retraction
) -> None:
    nonsense = retraction(2, 7).replace(ulid_text(7).encode(), b"nonsense")

    table.apply(claim(1), nonsense, retraction(3, 8))

    assert table.ask("SELECT ulid FROM events") == [ulid(8)]
    assert table.ask("SELECT retracted FROM claims") == [None]


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"seq":1', b'"seq":x'), (b"asserted", b"measured")],
    ids=["no line", "another kind"],
)
def test_a_claim_that_was_altered_beneath_the_index_is_retracted_all_the_same(
    table: Table, claim: Claim, retraction: Retraction, old: bytes, new: bytes
) -> None:
    table.apply(claim(1))
    table.alter(old, new)
    table.apply(retraction(2, 1))

    assert table.ask("SELECT retracted FROM claims") == [len(claim(1))]


def test_a_line_of_a_later_version_belongs_to_the_claim_with_its_id(table: Table, claim: Claim) -> None:
    later = claim(2).replace(b'{"v":1', b'{"v":2')

    table.apply(claim(1), later, b'{"v":2}\n')

    assert table.ask("SELECT ulid, kind FROM events") == [(ulid(2), "future")]
    assert table.ask("SELECT count(*) FROM claims") == [1]


def test_lines_of_other_kinds_are_nothing_to_this_index(table: Table, lines: Callable[..., bytes]) -> None:
    table.apply(lines([1, 2]))

    assert table.ask("SELECT (SELECT count(*) FROM claims) + (SELECT count(*) FROM events)") == [0]


def test_the_last_claim_of_a_time_before_others_is_remembered(table: Table, claim: Claim) -> None:
    late = "SELECT value FROM meta WHERE name='late'"
    times = ["2026-01-01", "2026-01-03", "2026-01-02", "2026-01-03", "2026-01-04"]
    first, *others = (claim(n, at=f"{day}T00:00:00.000000Z") for n, day in enumerate(times, 1))
    table.apply(first)
    seen = table.ask(late)

    for one in others:
        table.apply(one)
        seen += table.ask(late)

    assert seen == [0, 0, 3, 3, 3]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"c_{ulid_text(1)}", ulid(1)),
        (f"o_{ulid_text(2**128 - 1)}", b"\xff" * 16),
        ("", None),
        ("c", None),
        ("c_", None),
        (f"cc{ulid_text(1)}", None),
        (f"c_{ulid_text(1).lower()}x", None),
    ],
)
def test_an_id_is_sixteen_bytes(text: str, value: bytes | None) -> None:
    assert ulid_bytes(text) == value


def test_filters_are_tokens_of_which_every_row_has_one() -> None:
    one = Row(0, 0, "", ("x1;", "x2;"), 0, None)

    assert [filters(one, is_retracted=flag) for flag in (False, True)] == [
        "xall; x1; x2;",
        "xall; xretracted; x1; x2;",
    ]
