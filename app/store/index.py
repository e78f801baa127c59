"""A project's index of claims: follows the log, answers from SQLite, and is made anew whenever it does not fit.

Rules: a line is applied after it is in the log, never before; the position of the index is read again inside each
writing transaction, since other servers apply too; a position whose bytes are not the ones that were applied throws
the index away. Little is caught up on the spot, much by a thread in the background, and answers say so.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar

from app.errors import StoreError
from app.records.codec import Future, Record
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.follow import Followed
from app.store.index_apply import Projector
from app.store.index_file import IndexBroken, IndexFailed, IndexFile, index_file, mapped, remove
from app.store.index_fill import Filler, is_unmerged
from app.store.suspect import Report

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Told of a build in the background: project, position, of how many bytes."""

INLINE_BYTES: Final = 4 * 1024 * 1024
"""What is applied while a caller waits: some ten thousand claims."""
READERS_KEPT: Final = 4
_NEVER: Final = (-1, -1)


class State(NamedTuple):
    """How far the index is: bytes of the log that it holds, of how many there are."""

    position: int
    of: int

    @property
    def is_current(self) -> bool:
        """Whether nothing is missing."""
        return self.position >= self.of


class Recipe(NamedTuple):
    """What an index is made with; one made with anything else is made anew."""

    tokenizer: str
    version: str
    project: Projector


class ClaimIndex:
    """The index of one project, for all threads of this process.

    Raises `StoreError` where neither the log can be read nor any index be had.
    """

    def __init__(
        self,
        project: str,
        root: DataDirectory,
        files: Files,
        recipe: Recipe,
        report: Report,
        progress: Progress,
    ) -> None:
        self.project = project
        self._root = root
        self._files = files
        self._recipe = recipe
        self._progress = progress
        self._log = Followed(root, files, project, "claims")
        self._filler = Filler(self._log, recipe.tokenizer, recipe.version, recipe.project, report)
        self._writing = threading.RLock()  # held for a whole batch
        self._guard = threading.Lock()  # held for an instant
        self._place: IndexFile | None = None
        self._identity: tuple[int, int] | None = None
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []
        self._done = _NEVER  # generation and size of the log when nothing was missing
        self._builder: threading.Thread | None = None
        self._is_filling = False
        self._closed = False

    def catch_up(self, inline_bytes: int = INLINE_BYTES) -> State:
        """Apply what was added to the log; more than `inline_bytes` of it in the background."""
        if self._is_building():
            return State(self._filler.position, self._log.size())
        with self._writing:
            size = self._log.size()
            if size == 0 and self._writer is None:  # no index is made for a log that is not there
                self._done = (self._log.generation, 0)
                return State(0, 0)
            if self._done == (self._log.generation, size) and self._is_in_place():
                return State(size, size)
            try:
                return self._with_index(lambda connection: self._fill(connection, size, inline_bytes))
            except IndexFailed as failure:
                if failure.reason != "locked":
                    raise
                return State(
                    min(self._filler.position, size - 1), size
                )  # what is there can be asked all the same

    def is_empty(self) -> bool:
        """Whether there is no log yet; then no index is made for it."""
        return self._log.size() == 0

    def is_ready(self) -> bool:
        """Whether nothing was missing when it was last looked at, and little can be missing now; asks nobody."""
        return self._done != _NEVER and not self._is_building()

    def wait(self, seconds: float) -> None:
        """Wait for a build in the background, for at most that long."""
        builder = self._builder
        if builder is not None:
            builder.join(seconds)

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` finds in the index; each of its statements sees one state. Call `catch_up` before."""
        reader = self._reader()
        if reader is None:
            with self._writing:
                return self._with_index(work)
        try:
            with mapped(self._path()):
                found = work(reader)
        except (IndexBroken, IndexFailed):  # or not there yet: the first batch of a build makes its tables
            reader.close()
            with self._writing:
                return self._with_index(work)
        except BaseException:
            reader.close()
            raise
        self._give_back(reader)
        return found

    def record(self, position: int, length: int) -> Record | Future | None:
        """The line of the log at a place that the index names; None where the log was altered there."""
        return self._log.record(position, length)

    def keeping(self) -> str:
        """How the index is kept: `wal`, `rollback` or `memory`."""
        with self._writing:
            self._with_index(lambda _connection: None)
            return self._place.keeping if self._place else "memory"

    def close(self) -> None:
        """Let go of all files; a build in the background ends with its batch."""
        self._closed = True
        if self._builder is not None:
            self._builder.join()
        with self._writing:
            self._let_go()
            self._log.close()

    def _fill(self, connection: sqlite3.Connection, size: int, inline_bytes: int) -> State:
        missing = self._filler.missing(connection, size)
        if (size if missing is None else missing) > inline_bytes:
            self._filler.begin(connection, size)
            if not self._is_at_work():  # one that still merges is followed by the next call
                self._is_filling = True
                self._work_aside(self._build)
            return State(self._filler.position, size)
        if missing != 0:
            while self._filler.fill(connection, size):
                pass
        self._done = (self._log.generation, size)
        if is_unmerged(connection) and not self._is_at_work():
            self._work_aside(self._merge)
        return State(size, size)

    def _is_building(self) -> bool:
        return self._is_filling and self._is_at_work()

    def _is_at_work(self) -> bool:
        return self._builder is not None and self._builder.is_alive()

    def _work_aside(self, work: Callable[[], None]) -> None:
        self._builder = threading.Thread(target=work, name=f"index-{self.project}", daemon=True)
        self._builder.start()

    def _build(self) -> None:
        with suppress(StoreError):  # whoever asks next meets the same error, and is told
            while self._build_a_part() and not self._closed:
                pass
        self._is_filling = False
        self._merge()

    def _build_a_part(self) -> bool:
        with self._writing:
            size = self._log.size()
            more = self._with_index(lambda connection: self._filler.fill(connection, size, is_bulk=True))
        self._progress(self.project, self._filler.position, size)
        return more

    def _merge(self) -> None:
        """A text index in few pieces answers faster; meanwhile it is asked and filled as ever."""
        with suppress(StoreError):
            while not self._closed and self._merge_a_part():
                pass

    def _merge_a_part(self) -> bool:
        with self._writing:
            return self._with_index(
                lambda connection: is_unmerged(connection) and self._filler.merge(connection)
            )

    def _with_index(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` with the writing connection; an index that turns out to be broken is made anew, once.

        One that cannot be written, on a full device for instance, is kept in memory from then on.
        """
        try:
            with mapped(self._path()):
                return work(self._connected())
        except IndexBroken:
            self._let_go()
            if self._place is not None:
                remove(self._files, self._place)
            self._place = None
        except IndexFailed as failure:
            if failure.reason == "locked" or self._place is None or self._place.keeping == "memory":
                raise
            self._let_go()
            self._place = IndexFile("", "memory")
            self._writer = self._place.connect()
        try:
            with mapped(self._path()):
                return work(self._connected())
        except IndexBroken as error:
            raise StoreError("io", str(error)) from error

    def _connected(self) -> sqlite3.Connection:
        if self._writer is not None and self._is_in_place():
            return self._writer
        self._let_go()
        self._place = index_file(self._root, self._files, self.project, self._recipe.tokenizer)
        self._writer = self._place.connect()
        self._identity = self._found()
        return self._writer

    def _is_in_place(self) -> bool:
        """Whether the index that we opened is still the one at its path: it may be deleted at any time."""
        if self._place is None:
            return False
        return self._place.keeping == "memory" or self._identity == self._found() is not None

    def _found(self) -> tuple[int, int] | None:
        if self._place is None or not self._place.path:
            return None
        try:
            status = self._files.lstat(self._place.path)
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _reader(self) -> sqlite3.Connection | None:
        """A connection to read with; None where there is none beside the writing one."""
        place = self._place
        if place is None or place.keeping == "memory" or not self._is_in_place():
            return None
        with self._guard:
            if self._readers:
                return self._readers.pop()
        return place.connect(readonly=True)

    def _give_back(self, reader: sqlite3.Connection) -> None:
        with self._guard:
            if self._writer is not None and len(self._readers) < READERS_KEPT and self._is_in_place():
                self._readers.append(reader)
                return
        reader.close()

    def _let_go(self) -> None:
        with self._guard:
            connections = [*self._readers, *([self._writer] if self._writer else [])]
            self._readers, self._writer, self._done = [], None, _NEVER
        for connection in connections:
            connection.close()

    def _path(self) -> str:
        return self._place.path if self._place else f"the index of {self.project}"
