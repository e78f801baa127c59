"""An index filled from its log in batches: what is sound goes in once, what is not is reported once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.recall.projection import row
from app.records.claims import Row
from app.records.codec import Record
from app.records.events import Asserted
from app.store import index_fill
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.follow import Followed
from app.store.index_fill import Filler, is_unmerged, reached
from app.store.log import Damage

Claim = Callable[..., bytes]
Place = Callable[..., Path]
FILE = "projects/p/logs/claims.jsonl"


class Filled:
    """An index in memory over the claims of the test's directory; `reported` is what was told."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        files = Files()
        self.connection = connection
        self.reported: list[Damage] = []
        self.log = Followed(DataDirectory(str(path), files), files, "p", "claims")
        self.filler = self.again()

    def again(self, tokenizer: str = "words", version: str = "1") -> Filler:
        """A filler that has seen nothing."""
        self.filler = Filler(self.log, tokenizer, version, row, self.reported.append)
        return self.filler

    def fill(self) -> int:
        """Fill to the end; how many batches it took."""
        size, batches = self.log.size(), 1
        while self.filler.fill(self.connection, size):
            batches += 1
        return batches

    def claims(self) -> list[int]:
        found = self.connection.execute("SELECT ulid FROM claims ORDER BY n")
        return [int.from_bytes(ulid, "big") for (ulid,) in found]

    def missing(self) -> int | None:
        return self.filler.missing(self.connection, self.log.size())


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        made = Filled(tmp_path, connection)
        yield made
        made.log.close()


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lines a batch."""
    monkeypatch.setattr(index_fill, "BATCH_LINES", 2)


def test_a_new_index_misses_everything_and_then_nothing(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2), "claims")
    missing = [filled.missing()]

    filled.fill()

    assert ([*missing, filled.missing()], filled.claims()) == ([None, 0], [1, 2])
    assert filled.filler.position == filled.log.size()


def test_only_what_was_added_is_missing(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    filled.fill()
    place(claim(1) + claim(2), "claims")

    missing = filled.missing()
    filled.fill()

    assert (missing, filled.claims()) == (len(claim(2)), [1, 2])


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(("count", "batches"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_a_long_log_is_filled_in_batches(
    filled: Filled, place: Place, claim: Claim, count: int, batches: int
) -> None:
    place(b"".join(map(claim, range(1, count + 1))), "claims")

    assert (filled.fill(), filled.claims()) == (batches, list(range(1, count + 1)))


def test_a_batch_ends_by_bytes_too(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_BYTES", 1)
    place(claim(1) + claim(2) + claim(3), "claims")

    assert (filled.fill(), filled.claims()) == (3, [1, 2, 3])


def test_each_batch_keeps_its_position(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    place(claim(1) + claim(2), "claims")

    more = filled.filler.fill(filled.connection, filled.log.size())

    assert (more, filled.missing(), filled.claims()) == (True, len(claim(2)), [1])


def test_another_hand_may_fill_in_between(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    first = filled.filler
    filled.fill()
    place(claim(1) + claim(2), "claims")
    filled.again()
    filled.fill()

    filled.filler = first
    filled.fill()

    assert (filled.claims(), filled.missing()) == ([1, 2], 0)


@pytest.mark.parametrize(
    "end", [b'{"v":1,"se', b"\0\0\0", b"x", b"\xff"], ids=["a piece", "nul bytes", "rubbish", "not UTF-8"]
)
def test_a_torn_tail_is_neither_applied_nor_reported_nor_lost(
    filled: Filled, place: Place, claim: Claim, end: bytes
) -> None:
    place(claim(1) + end, "claims")
    filled.fill()
    told = list(filled.reported)

    place(claim(1) + end + b"\n" + claim(2), "claims")
    filled.fill()

    assert (told, filled.claims()) == ([], [1, 2])
    assert [(one.offset, one.length) for one in filled.reported] == [(len(claim(1)), len(end))]


def test_a_line_that_grows_is_applied_when_it_is_whole(filled: Filled, place: Place, claim: Claim) -> None:
    whole = claim(1) + claim(2)
    for end in range(len(claim(1)), len(whole) + 1):
        place(whole[:end], "claims")
        filled.fill()

    assert (filled.claims(), filled.reported, filled.missing()) == ([1, 2], [], 0)


def test_a_whole_line_without_its_line_feed_is_applied_once(
    filled: Filled, place: Place, claim: Claim
) -> None:
    place(claim(1)[:-1], "claims")
    filled.fill()
    early = (filled.claims(), filled.missing())

    place(claim(1) + claim(2), "claims")
    filled.fill()

    assert (early, filled.claims(), filled.reported) == (([1], 0), [1, 2], [])


def test_damage_is_reported_once_with_its_position(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + b"rubbish\n" + claim(2) + b"\n\n" + claim(3), "claims")
    filled.fill()
    filled.connection.execute("DROP TABLE meta")
    filled.fill()

    second = len(claim(1)) + len(b"rubbish\n") + len(claim(2))
    assert filled.reported == [
        Damage(FILE, len(claim(1)), 7, "not_json"),
        Damage(FILE, second, 0, "blank"),
        Damage(FILE, second + 1, 0, "blank"),
    ]
    assert filled.claims() == [1, 2, 3]


@pytest.mark.usefixtures("small_batches")
def test_damage_at_the_edges_of_batches_is_reported_once(filled: Filled, place: Place, claim: Claim) -> None:
    content = b"x\n" + claim(1) + b"y\n" + b"z\n" + claim(2) + b"\n"
    place(content, "claims")
    filled.fill()

    assert [content[one.offset : one.offset + one.length] for one in filled.reported] == [
        b"x",
        b"y",
        b"z",
        b"",
    ]
    assert filled.claims() == [1, 2]


def test_not_every_damage_is_told_where_there_is_no_end_of_it(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "_TOLD_AT_MOST", 3)
    place(b"x\n" * 9 + claim(1), "claims")
    filled.fill()

    assert (len(filled.reported), filled.claims()) == (3, [1])


def test_a_log_that_was_replaced_is_indexed_anew(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2), "claims")
    filled.fill()
    place(claim(3) + claim(4) + claim(5), "claims")

    missing = filled.missing()
    filled.fill()

    assert (missing, filled.claims()) == (None, [3, 4, 5])


def test_a_log_that_was_cut_is_indexed_anew(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2), "claims")
    filled.fill()
    place(claim(1), "claims")

    missing = filled.missing()
    filled.fill()

    assert (missing, filled.claims()) == (None, [1])


@pytest.mark.parametrize(
    ("tokenizer", "version"), [("trigram", "1"), ("words", "2")], ids=["another tokenizer", "another version"]
)
def test_an_index_made_in_another_way_is_made_anew(
    filled: Filled, place: Place, claim: Claim, tokenizer: str, version: str
) -> None:
    place(claim(1), "claims")
    filled.fill()
    filled.again(tokenizer, version)

    missing = filled.missing()
    filled.fill()

    assert (missing, filled.missing(), filled.claims()) == (None, 0, [1])


@pytest.mark.parametrize("value", ["x", None, -1, 1.5, 9_999_999])
def test_a_position_that_is_none_begins_anew(filled: Filled, place: Place, claim: Claim, value: Any) -> None:
    place(claim(1), "claims")
    filled.fill()
    filled.connection.execute("UPDATE meta SET value=? WHERE name='position'", (value,))

    missing = filled.missing()
    filled.fill()

    assert (missing, filled.claims()) == (None, [1])


def test_a_batch_that_fails_leaves_nothing_behind(
    filled: Filled, place: Place, claim: Claim, retraction: Callable[[int, int], bytes]
) -> None:
    def project(record: Record, event: Asserted) -> Row:
        if event.statement == "bad":
            raise ZeroDivisionError
        return row(record, event)

    place(claim(1), "claims")
    filled.filler = Filler(filled.log, "words", "1", project, filled.reported.append)
    filled.fill()
    place(claim(1) + retraction(2, 1) + claim(3, "bad"), "claims")
    with pytest.raises(ZeroDivisionError):
        filled.fill()

    retracted = filled.connection.execute("SELECT retracted FROM claims").fetchall()

    assert (retracted, filled.connection.in_transaction) == ([(None,)], False)
    assert filled.missing() == len(retraction(2, 1) + claim(3, "bad"))


def test_the_pieces_of_a_build_are_brought_together(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    monkeypatch.setattr(index_fill, "_MERGED_PAGES", 1)
    place(b"".join(claim(n, f"claim {n} " * 300 + str(n**9)) for n in range(1, 30)), "claims")
    while filled.filler.fill(filled.connection, filled.log.size(), is_bulk=True):
        pass
    pieces = "SELECT count(DISTINCT segid) FROM fts_idx"
    before = (filled.connection.execute(pieces).fetchone(), is_unmerged(filled.connection))

    calls = 1
    while filled.filler.merge(filled.connection):
        calls += 1

    assert calls > 2
    assert before == ((29,), True)
    assert (filled.connection.execute(pieces).fetchone(), is_unmerged(filled.connection)) == ((1,), False)
    assert (filled.claims(), filled.missing()) == (list(range(1, 30)), 0)


def test_claims_that_come_one_by_one_leave_few_pieces(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    place(b"".join(claim(n, f"claim {n}") for n in range(1, 200)), "claims")
    filled.fill()

    pieces = filled.connection.execute("SELECT count(DISTINCT segid) FROM fts_idx").fetchone()

    assert pieces[0] < 24


def test_what_comes_behind_a_build_waits_for_none_of_its_pieces(
    filled: Filled, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    place(b"".join(claim(n, f"claim {n}") for n in range(1, 50)), "claims")
    while filled.filler.fill(filled.connection, filled.log.size(), is_bulk=True):
        pass
    place(b"".join(claim(n, f"claim {n}") for n in range(1, 60)), "claims")
    filled.fill()
    tuned = dict(filled.connection.execute("SELECT k, v FROM fts_config"))

    pieces = filled.connection.execute("SELECT count(DISTINCT segid) FROM fts_idx").fetchone()

    assert (pieces, tuned["crisismerge"], tuned["hashsize"]) == ((59,), 256, 1 << 20)
    while filled.filler.merge(filled.connection):
        pass
    place(b"".join(claim(n, f"claim {n}") for n in range(1, 61)), "claims")
    filled.fill()
    assert dict(filled.connection.execute("SELECT k, v FROM fts_config"))["crisismerge"] == 8


def test_how_far_an_index_is_stands_in_it(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2)[:20], "claims")
    filled.fill()

    assert reached(filled.connection) == len(claim(1))
    filled.connection.execute("DELETE FROM meta")
    assert reached(filled.connection) == 0


def test_an_index_that_does_not_fit_is_made_empty_at_once(filled: Filled, place: Place, claim: Claim) -> None:
    size = place(claim(1), "claims").stat().st_size
    filled.fill()
    filled.filler.begin(filled.connection, size)
    kept = filled.claims()
    filled.again(version="2")

    filled.filler.begin(filled.connection, size)

    assert (kept, filled.claims(), filled.missing()) == ([1], [], size)


def test_a_bulk_fill_gives_the_same(filled: Filled, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2), "claims")

    filled.filler.fill(filled.connection, filled.log.size(), is_bulk=True)

    assert (filled.claims(), filled.missing()) == ([1, 2], 0)
