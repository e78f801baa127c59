"""The log backend that keeps each log as a JSONL file below the data directory (docs/log-format.md)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Final

from app.clock import Clock
from app.records.codec import storable
from app.records.names import check_project
from app.store.directory import DataDirectory, Mount, closing, open_file
from app.store.faults import storage_error
from app.store.files import Files
from app.store.lines import read_lines
from app.store.log import Damage, Line, LogName, Stored
from app.store.pending import Pending
from app.store.project import Project
from app.store.suspect import Report
from app.store.writer import Writer

LOCK_LIMIT_SECONDS: Final = 5.0

_KNOWN_PROJECTS: Final = 1000


class FileLog:
    """All projects' logs in one data directory, which other servers may write to at the same time.

    `report` is told of damage at the end of a log, on the writer's thread, when a project is opened. `mount`:
    "require" refuses to write where `data_dir` is not a mount point, so that a container without its volume
    fails instead of forgetting. `lock_limit_seconds`: how long another server may hold a project.
    """

    def __init__(
        self,
        data_dir: str,
        clock: Clock,
        *,
        mount: Mount = "any",
        files: Files | None = None,
        randomness: Callable[[int], bytes] = os.urandom,
        report: Report | None = None,
        lock_limit_seconds: float = LOCK_LIMIT_SECONDS,
    ) -> None:
        self._files = files or Files()
        self._root = DataDirectory(data_dir, self._files, mount)
        self._clock = clock
        self._randomness = randomness
        self._report = report or _unreported
        self._known: set[str] = set()
        self._writer = Writer(self._open, clock, int(lock_limit_seconds * 1e9), self._report)

    async def append(self, project: str, log: LogName, prefix: str, body: bytes) -> Stored:
        """Make one line durable; see `Log.append`. Many calls at once share a write and a sync."""
        if project not in self._known:
            self._check(project)
        pending = Pending(project, log, prefix, storable(body), asyncio.get_running_loop())
        self._writer.put(pending)
        return await pending.future

    def read(self, project: str, log: LogName, position: int = 0) -> Iterator[Line | Damage]:
        """Every line and every damage from `position` on, without the lock; a log without a file is empty.

        While another server is writing, its last line may be seen half and then counts as torn.
        """
        self._check(project)
        relative = os.path.join("projects", project, "logs", f"{log}.jsonl")
        try:
            descriptor = self._open_to_read(project, log, self._root.place(relative))
            if descriptor is None:
                return
            with closing(self._files, descriptor):
                end = self._files.fstat(descriptor).st_size
                yield from read_lines(
                    lambda size, offset: self._files.pread(descriptor, size, offset), position, end, relative
                )
        except OSError as error:
            raise storage_error(error, self._root.place(relative)) from error

    def close(self, seconds: float | None = None) -> None:
        """Accept nothing more, write and sync what waits, for at most `seconds`; call it from any thread.

        What waits longer (for a lock, or for a disk that has stalled) gets StoreError("closed").
        """
        self._writer.close(seconds)

    def _check(self, project: str) -> None:
        check_project(project)
        if len(self._known) >= _KNOWN_PROJECTS:
            self._known.clear()
        self._known.add(project)

    def _open(self, project: str) -> Project:
        return Project(project, self._root, self._files, self._clock, self._randomness, self._report)

    def _open_to_read(self, project: str, log: LogName, place: str) -> int | None:
        directory = self._root.found("projects", project, "logs")
        if directory is None:
            return None
        with closing(self._files, directory):
            try:
                return open_file(self._files, f"{log}.jsonl", os.O_RDONLY, directory, place)
            except FileNotFoundError:
                return None


def _unreported(_damage: Damage) -> None:
    """Nobody asked to be told; `read` still shows every damage."""
