"""Fills an index from its log, batch by batch, each in one transaction with the position that it reached."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final

from app.records.codec import Record
from app.store.follow import Followed
from app.store.index_apply import Applier, Projector
from app.store.index_schema import DEFINITION, SCHEMA, TABLES, TOKENIZERS
from app.store.lines import read_lines
from app.store.log import Damage, Line
from app.store.suspect import Report

BATCH_LINES: Final = 10_000
"""Nobody else can write meanwhile: about a second."""
BATCH_BYTES: Final = 64 * 1024 * 1024

_STEADY: Final[dict[str, int]] = {"automerge": 4, "crisismerge": 8, "hashsize": 1024 * 1024}
"""How the text index is kept while claims come one by one: in few pieces, brought together as they come."""
_BULK: Final[dict[str, int]] = {"automerge": 0, "crisismerge": 256, "hashsize": 64 * 1024 * 1024}
"""While it is built: the pieces are brought together afterwards, in steps for which nobody waits long."""
_CHECKED_BYTES: Final = 4096
_MERGED_PAGES: Final = 1000
_WORK_DONE: Final = 2
"""Changes that a merge counts when it did anything (sqlite.org/fts5.html, the merge command)."""
_TOLD_AT_MOST: Final = 10_000


class Filler:
    """Applies the lines of one log; `position` is how far the index was when it was last looked at."""

    def __init__(
        self, log: Followed, tokenizer: str, version: str, project: Projector, report: Report
    ) -> None:
        self.position = 0
        self._log = log
        self._tokenizer = tokenizer
        self._made_with = f"{SCHEMA}/{version}/{tokenizer}"
        self._project = project
        self._report = report
        self._told: set[int] = set()
        self._is_merging = False

    def missing(self, connection: sqlite3.Connection, size: int) -> int | None:
        """How many bytes of the log are not in the index; None where it does not fit and has to begin anew."""
        position = self._position(connection, size)
        self.position = position or 0
        return None if position is None else size - position

    def begin(self, connection: sqlite3.Connection, size: int) -> None:
        """Make an index that does not fit empty, so that it can be asked before the first batch is in it."""
        with transaction(connection):
            if self._position(connection, size) is None:
                self._begin_anew(connection)
                self._remember(connection, 0)

    def fill(self, connection: sqlite3.Connection, size: int, *, is_bulk: bool = False) -> bool:
        """Apply one batch of the log's first `size` bytes; whether more is to come.

        A piece of a line at the end, which another server may still be writing, is left for the next time.
        """
        with transaction(connection):
            position = self._position(connection, size)
            if position is None:
                self._begin_anew(connection)
                position = 0
            if is_bulk:
                connection.execute("INSERT OR REPLACE INTO meta VALUES('unmerged', 1)")
            _tune(connection, is_bulk=is_bulk)
            batch = _Batch(self._log, position, size)
            applier = Applier(connection, self._project, self._read_line)
            applier.apply(self._sound(batch))
            applier.finish()
            self._remember(connection, batch.reached)
        return not batch.is_last

    def merge(self, connection: sqlite3.Connection) -> bool:
        """Bring together a part of the pieces that a build in batches left; whether more is to be done."""
        before = connection.total_changes
        with transaction(connection):
            # negative: all pieces, whatever their size
            pages = _MERGED_PAGES if self._is_merging else -_MERGED_PAGES
            connection.execute("INSERT INTO fts(fts, rank) VALUES('merge', ?)", (pages,))
            self._is_merging = connection.total_changes - before >= _WORK_DONE
            if not self._is_merging:
                connection.execute("DELETE FROM meta WHERE name='unmerged'")
        return self._is_merging

    def _sound(self, batch: _Batch) -> Iterator[Line]:
        for found in batch.lines():
            if isinstance(found, Line):
                yield found
            elif found.offset not in self._told and len(self._told) < _TOLD_AT_MOST:
                self._told.add(found.offset)
                self._report(found)

    def _read_line(self, position: int, length: int) -> Record | None:
        found = self._log.record(position, length)
        return found if isinstance(found, Record) else None

    def _position(self, connection: sqlite3.Connection, size: int) -> int | None:
        """The position, if the index was made as we make it and from these very bytes."""
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone() is None:
            return None
        meta = dict(connection.execute("SELECT name, value FROM meta"))
        position = meta.get("position")
        if meta.get("made_with") != self._made_with or not isinstance(position, int):
            return None
        if not 0 <= position <= size:
            return None
        return position if meta.get("check") == self._check(position) else None

    def _check(self, position: int) -> str:
        """A hash of what stands before the position."""
        if position == 0:
            return sha256().hexdigest()  # nothing stands there: the log need not be asked
        begin = max(0, position - _CHECKED_BYTES)
        return sha256(self._log.read_at(position - begin, begin)).hexdigest()

    def _remember(self, connection: sqlite3.Connection, position: int) -> None:
        meta = [("position", position), ("check", self._check(position)), ("made_with", self._made_with)]
        connection.executemany("INSERT OR REPLACE INTO meta VALUES(?,?)", meta)
        self.position = position

    def _begin_anew(self, connection: sqlite3.Connection) -> None:
        for table in TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in DEFINITION.format(tokenizer=TOKENIZERS[self._tokenizer]).split(";\n"):
            connection.execute(statement)


class _Batch:
    """Some lines of a log from `position` on; afterwards `reached` is where the next batch begins."""

    def __init__(self, log: Followed, position: int, size: int) -> None:
        self.reached = position
        self.is_last = False
        self._log = log
        self._begin = position
        self._size = size

    def lines(self) -> Iterator[Line | Damage]:
        """Every line and every damage of the batch."""
        found_lines = read_lines(self._read_at, self._begin, self._size, self._log.file)
        for count, found in enumerate(found_lines):
            if count >= BATCH_LINES or self.reached - self._begin >= BATCH_BYTES:
                return
            end = _end(found)
            if end >= self._size and isinstance(found, Damage):
                break  # not ended: somebody may be writing it
            self.reached = min(end + 1, self._size)
            if not self._is_fence(found):
                yield found
        self.is_last = True

    def _read_at(self, size: int, offset: int) -> bytes:
        return self._log.read_at(min(size, self._size - offset), offset)

    def _is_fence(self, found: Line | Damage) -> bool:
        """The LF that ends the line of the batch before, which was whole but not ended."""
        is_first_lf = isinstance(found, Damage) and (found.offset, found.length) == (self._begin, 0)
        return is_first_lf and self._begin > 0 and self._log.read_at(1, self._begin - 1) != b"\n"


def _end(found: Line | Damage) -> int:
    """Where the LF of a line is, or would be."""
    if isinstance(found, Damage):
        return found.offset + found.length
    return found.position + len(found.record.raw)


def reached(connection: sqlite3.Connection) -> int:
    """Up to which byte of the log the index goes, as it was last remembered."""
    row = connection.execute("SELECT value FROM meta WHERE name='position'").fetchone()
    return row[0] if row else 0


def is_unmerged(connection: sqlite3.Connection) -> bool:
    """Whether a build has left its pieces: it goes on, or it was ended before they were brought together."""
    return connection.execute("SELECT 1 FROM meta WHERE name='unmerged'").fetchone() is not None


def _tune(connection: sqlite3.Connection, *, is_bulk: bool) -> None:
    """Pieces of a build are not brought together by the next claim, which would wait for it."""
    hash_size = {} if is_bulk else {"hashsize": _STEADY["hashsize"]}
    wanted = {**_BULK, **hash_size} if is_unmerged(connection) else _STEADY
    kept = dict(connection.execute("SELECT k, v FROM fts_config"))
    for name, value in wanted.items():
        if kept.get(name) != value:
            connection.execute("INSERT INTO fts(fts, rank) VALUES(?, ?)", (name, value))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A writing transaction; nobody else writes meanwhile, and all of it happens or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # on a full device SQLite has ended it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
