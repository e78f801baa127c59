"""The logs of all projects and the indexes of their claims: what is asserted, found again, and cited."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from app.records.claims import Place, Search
from app.records.codec import Damaged, Future, Record, decode, tail
from app.records.events import Asserted
from app.records.names import check_project
from app.store.directory import DataDirectory
from app.store.faults import storage_error
from app.store.files import Files
from app.store.index import ClaimIndex, Progress, Recipe, State
from app.store.index_apply import Known, known, ulid_bytes
from app.store.index_fill import reached
from app.store.index_search import Page, matched, page
from app.store.locate import locate
from app.store.log import Damage, Log, LogName, Stored
from app.store.segments import open_segments
from app.store.suspect import Report

INDEXES_KEPT: Final = 32
"""Each open index holds some descriptors."""
PAGE_BYTES: Final = 4 * 1024 * 1024
"""A page ends when its lines hold more: a claim may embed megabytes of evidence."""


class Claim(NamedTuple):
    """A stored claim and, if it was taken back, the line that says so."""

    record: Record
    retraction: Record | None


class Found(NamedTuple):
    """One page of claims, where the next one begins, and how many there are in all."""

    claims: list[Claim]
    place: Place | None
    matched: int
    is_exact: bool
    state: State


class Event(NamedTuple):
    """One line about a claim and the byte position at which it begins."""

    position: int
    record: Record | Future


class Registry:
    """`log` writes; everything that is read here is read without its lock. Raises `StoreError`."""

    def __init__(
        self,
        log: Log,
        root: DataDirectory,
        files: Files,
        recipe: Recipe,
        report: Report,
        progress: Progress,
    ) -> None:
        self.log = log
        self._root = root
        self._files = files
        self._report = report
        self._open: Callable[[str], ClaimIndex] = lambda project: ClaimIndex(
            project, root, files, recipe, report, progress
        )
        self._indexes: dict[str, ClaimIndex] = {}
        self._users: Counter[str] = Counter()
        self._guard = threading.Lock()

    def index(self, project: str) -> ClaimIndex:
        """The index of a project, for one call; the idle one used longest ago is closed when there are too many."""
        check_project(project)
        with self._guard:
            index = self._indexes.pop(project, None) or self._open(project)
            self._indexes[project] = index
            idle = [name for name in self._indexes if name != project and not self._users[name]]
            surplus = [self._indexes.pop(name) for name in idle[: max(0, len(self._indexes) - INDEXES_KEPT)]]
        for each in surplus:
            each.close()
        return index

    @contextmanager
    def using(self, project: str) -> Iterator[ClaimIndex]:
        """The index of a project, which stays open for the whole block."""
        with self._guard:
            self._users[project] += 1
        try:
            yield self.index(project)
        finally:
            with self._guard:
                self._users[project] -= 1
                if not self._users[project]:
                    del self._users[project]  # callers may name any number of projects

    def search(self, project: str, search: Search, place: Place | None, limit: int) -> Found:
        """One page; a claim whose acknowledgement was given before is seen."""
        with self.using(project) as index:
            state = index.catch_up()
            if index.is_empty():
                return Found([], None, 0, is_exact=True, state=state)
            found, (count, is_exact), position = index.read(
                lambda connection: _counted(connection, search, place, limit)
            )
            if not state.is_current:
                state = State(position, max(position, state.of))  # others may have filled it since
            claims: list[Claim] = []
            shown: Place | None = None
            size = 0
            for hit in found.hits:
                size += hit.claim.length
                if claims and size > PAGE_BYTES:
                    return Found(claims, shown, count, is_exact, state)
                claims.extend(self._claim(index, hit.claim, hit.ulid))
                shown = hit.place
            return Found(claims, shown if found.has_more else None, count, is_exact, state)

    def claim(self, project: str, claim_id: str) -> Claim | None:
        """The claim with this id."""
        ulid = _claim_ulid(claim_id)
        with self.using(project) as index:
            index.catch_up()
            if ulid is None or index.is_empty():
                return None
            row = index.read(lambda connection: known(connection, ulid))
            return None if row is None else next(self._claim(index, row, ulid), None)

    def history(self, project: str, claim_id: str) -> list[Event]:
        """Every line about a claim in the order of the log; none where there is no such claim."""
        ulid = _claim_ulid(claim_id)
        with self.using(project) as index:
            index.catch_up()
            if ulid is None or index.is_empty():
                return []
            places = index.read(lambda connection: _places(connection, ulid))
            lines = [(position, index.record(position, length)) for position, length in places]
            return [Event(position, line) for position, line in lines if line is not None]

    def same(self, project: str, event: Asserted, content: int, body: bytes) -> Stored | None:
        """The claim that was not retracted and is equal in every stored field; `body` is what follows a line's head."""
        for position, record in self._candidates(project, "content=? AND retracted IS NULL", content):
            if record.event == event and tail(record) == body:
                return Stored(record.seq, record.id, record.at, "claims", position, created=False)
        return None

    def with_key(self, project: str, idempotency_key: str, key: int) -> list[Record]:
        """The claims that were asserted with this idempotency key, retracted ones too."""
        return [
            record
            for _position, record in self._candidates(project, "key=?", key)
            if isinstance(record.event, Asserted) and record.event.idempotency_key == idempotency_key
        ]

    def record(self, project: str, log: LogName, record_id: str) -> Record | Future | None:
        """The line with this id, looked for in the log itself."""
        check_project(project)
        try:
            segments = open_segments(self._root, self._files, project, log)
            if segments is None:
                return None
            try:
                found = locate(segments, record_id)
            finally:
                segments.close()
        except OSError as error:
            raise storage_error(error, f"{log} of {project}") from error
        line = decode(found[1]) if found else None
        return None if isinstance(line, Damaged) else line

    def close(self) -> None:
        """Let go of the indexes; the log is closed by whoever opened it."""
        with self._guard:
            indexes, self._indexes = list(self._indexes.values()), {}
        for index in indexes:
            index.close()

    def _candidates(self, project: str, where: str, value: int) -> list[tuple[int, Record]]:
        """Claims by the hash of something: whether they are equal has still to be looked at."""
        sql = f"SELECT position, length FROM claims WHERE {where} ORDER BY n"  # noqa: S608 - texts of this module
        with self.using(project) as index:
            if index.is_empty():
                return []
            places = index.read(lambda connection: connection.execute(sql, (value,)).fetchall())
            found = [(position, index.record(position, length)) for position, length in places]
        return [(position, record) for position, record in found if isinstance(record, Record)]

    def _claim(self, index: ClaimIndex, row: Known, ulid: bytes) -> Iterator[Claim]:
        """One claim; none where the log was altered beneath the index, which is reported."""
        record = index.record(row.position, row.length)
        if not isinstance(record, Record) or ulid_bytes(record.id) != ulid:
            self._report(
                Damage(
                    f"projects/{index.project}/logs/claims.jsonl", row.position, row.length, "not_a_record"
                )
            )
            return
        retraction = None
        if row.retracted is not None:
            lines = index.read(lambda connection: _places(connection, ulid))
            lengths = dict(lines)
            line = index.record(row.retracted, lengths.get(row.retracted, 0))
            retraction = line if isinstance(line, Record) else None
        yield Claim(record, retraction)


def _counted(
    connection: sqlite3.Connection, search: Search, place: Place | None, limit: int
) -> tuple[Page, tuple[int, bool], int]:
    """A page, the number of all matches, and how far the index is, in one view of it."""
    connection.execute("BEGIN")
    try:
        found = page(connection, search, place, limit)
        count = matched(connection, search, found if place is None else None)
        return found, count, reached(connection)
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def _places(connection: sqlite3.Connection, ulid: bytes) -> list[tuple[int, int]]:
    found = connection.execute(
        "SELECT position, length FROM claims WHERE ulid=?1 UNION ALL"
        " SELECT position, length FROM events WHERE ulid=?1 ORDER BY position",
        (ulid,),
    )
    return found.fetchall()


def _claim_ulid(claim_id: str) -> bytes | None:
    """What the index knows a claim by; None for what is no id of a claim."""
    return ulid_bytes(claim_id) if claim_id.startswith("c_") else None
