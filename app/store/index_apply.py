"""Lines of the log become rows of the index, inside a transaction that the caller began."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from app.records.claims import Row
from app.records.codec import Future, Record
from app.records.events import Asserted, Retracted
from app.records.ulid import ulid_value
from app.store.log import Line
from app.store.match import ALL, RETRACTED

ReadLine = Callable[[int, int], Record | None]
"""The record at a position of the log, of this length."""
Projector = Callable[[Record, Asserted], Row]

_TOGETHER: Final = 1000
"""Rows that are handed to SQLite at once."""
_INSERT: Final = "INSERT INTO claims VALUES(?,?,?,?,?,?,?,?,?)"
_INDEX: Final = "INSERT INTO fts(rowid,text,f) VALUES(?,?,?)"
_UNINDEX: Final = "INSERT INTO fts(fts,rowid,text,f) VALUES('delete',?,?,?)"


class Known(NamedTuple):
    """What the index holds of one claim; `retracted` is the position of the first retraction."""

    n: int
    position: int
    length: int
    retracted: int | None


class Applier:
    """Applies lines one after another; numbers go on from those that are there."""

    def __init__(self, connection: sqlite3.Connection, project: Projector, read_line: ReadLine) -> None:
        self._connection = connection
        self._project = project
        self._read_line = read_line
        self._claims: list[tuple[int | bytes | None, ...]] = []
        self._texts: list[tuple[int, str, str]] = []
        last = connection.execute("SELECT n, ulid FROM claims ORDER BY n DESC LIMIT 1").fetchone()
        self._n: int = last[0] if last else 0
        (greatest,) = connection.execute("SELECT max(ulid) FROM claims").fetchone()
        self._greatest: bytes = greatest or b""
        self._kept = _kept(connection)

    def apply(self, lines: Iterable[Line]) -> None:
        """Apply lines that come after all that were applied before."""
        for line in lines:
            record = line.record
            if isinstance(record, Future):
                self._other(record.id, line, "future")
            elif isinstance(record.event, Asserted):
                self._asserted(line, record, record.event)
            elif isinstance(record.event, Retracted):
                self._flush()
                self._retracted(line, record.event)

    def finish(self) -> None:
        """Write what waits, and keep what the next transaction needs to know."""
        self._flush()
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES(?,?)", self._kept.items())

    def _asserted(self, line: Line, record: Record, event: Asserted) -> None:
        ulid = ulid_bytes(record.id)
        if ulid is None or self._is_known(ulid):
            return  # a copy of an earlier line: the first one stands
        row = self._project(record, event)
        self._n += 1
        self._greatest = max(self._greatest, ulid)
        if row.asserted_us < self._kept["latest_us"]:
            self._kept["late"] = self._n
        else:
            self._kept["latest_us"] = row.asserted_us
        retracted = self._retraction_of(ulid) if self._kept["early"] else None
        times = (row.asserted_us, row.basis_us, row.content, row.key)
        self._claims.append((self._n, ulid, line.position, len(record.raw), *times, retracted))
        self._texts.append((self._n, row.text, filters(row, is_retracted=retracted is not None)))
        if len(self._claims) >= _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany(_INSERT, self._claims)
        self._connection.executemany(_INDEX, self._texts)
        self._claims.clear()
        self._texts.clear()

    def _retracted(self, line: Line, event: Retracted) -> None:
        self._other(event.claim_id, line, "retracted")
        ulid = ulid_bytes(event.claim_id)
        claim = known(self._connection, ulid) if ulid else None
        if claim is None:
            self._kept["early"] = 1
            return
        if claim.retracted is not None:
            return
        self._connection.execute("UPDATE claims SET retracted=? WHERE n=?", (line.position, claim.n))
        record = self._read_line(claim.position, claim.length)
        if record is None or not isinstance(record.event, Asserted):
            return  # the line was altered: what it said stays in the index until that is built anew
        row = self._project(record, record.event)
        self._connection.execute(_UNINDEX, (claim.n, row.text, filters(row, is_retracted=False)))
        self._connection.execute(_INDEX, (claim.n, row.text, filters(row, is_retracted=True)))

    def _other(self, claim_id: str | None, line: Line, kind: str) -> None:
        ulid = ulid_bytes(claim_id) if claim_id else None
        if ulid is not None:
            place = (ulid, line.position, len(line.record.raw), kind)
            self._connection.execute("INSERT OR IGNORE INTO events VALUES(?,?,?,?)", place)

    def _retraction_of(self, ulid: bytes) -> int | None:
        """The retraction that stands before its claim, where logs were joined."""
        found = self._connection.execute(
            "SELECT min(position) FROM events WHERE ulid=? AND kind='retracted'", (ulid,)
        ).fetchone()
        position: int | None = found[0]
        return position

    def _is_known(self, ulid: bytes) -> bool:
        if ulid > self._greatest:
            return False
        self._flush()
        return known(self._connection, ulid) is not None


def known(connection: sqlite3.Connection, ulid: bytes) -> Known | None:
    """The claim with this id."""
    found = connection.execute(
        "SELECT n, position, length, retracted FROM claims WHERE ulid=?", (ulid,)
    ).fetchone()
    return None if found is None else Known(*found)


def ulid_bytes(record_id: str) -> bytes | None:
    """The id as the index holds it, without its letter; None for what is no id."""
    value = ulid_value(record_id[2:]) if record_id[1:2] == "_" else None
    return None if value is None else value.to_bytes(16, "big")


def filters(row: Row, *, is_retracted: bool) -> str:
    """The content of column `f`."""
    return " ".join([ALL, *([RETRACTED] if is_retracted else []), *row.tokens])


def _kept(connection: sqlite3.Connection) -> dict[str, int]:
    """The latest time there is, the last claim that is earlier than one before it, and whether a retraction waits."""
    names = "'latest_us', 'late', 'early'"
    found = dict(connection.execute(f"SELECT name, value FROM meta WHERE name IN ({names})"))  # noqa: S608 - ours
    return {"latest_us": -(2**62), "late": 0, "early": 0, **found}
