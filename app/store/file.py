"""The log backend that keeps each log as a JSONL file below the data directory (docs/log-format.md)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Final

from app.clock import Clock
from app.proofs.note import SigningKey
from app.records.codec import storable
from app.records.names import check_project
from app.store.directory import DataDirectory, Mount
from app.store.faults import storage_error
from app.store.files import Files
from app.store.lines import read_lines
from app.store.log import Damage, Guard, Line, LogName, Stored
from app.store.notary import Notary
from app.store.pending import Pending
from app.store.project import Project
from app.store.segments import Segment, open_segments
from app.store.signer import Signer
from app.store.suspect import Report
from app.store.writer import Writer

LOCK_LIMIT_SECONDS: Final = 5.0

_KNOWN_PROJECTS: Final = 1000


class FileLog:
    """All projects' logs in one data directory, which other servers may write to at the same time.

    `report` is told of damage at the end of a log, on the writer's thread, when a project is opened. `mount`:
    "require" refuses to write where `data_dir` is not a mount point, so that a container without its volume
    fails instead of forgetting. `lock_limit_seconds`: how long another server may hold a project. With a `key`
    checkpoints are signed. A file of observations that has `rotate_bytes` is sealed; 0: never.
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
        key: Callable[[], SigningKey] | None = None,
        rotate_bytes: int = 0,
    ) -> None:
        self._files = files or Files()
        self._root = DataDirectory(data_dir, self._files, mount)
        self._clock = clock
        self._randomness = randomness
        self._report = report or _unreported
        self._rotate_bytes = rotate_bytes
        self._known: set[str] = set()
        self._notary = self._notary_with(key) if key else None
        self._writer = Writer(self._open, clock, int(lock_limit_seconds * 1e9), self._report, self._notary)

    async def append(
        self, project: str, log: LogName, prefix: str, body: bytes, guard: Guard | None = None
    ) -> Stored:
        """Make one line durable; see `Log.append`. Many calls at once share a write and a sync."""
        if project not in self._known:
            self._check(project)
        pending = Pending(project, log, prefix, storable(body), asyncio.get_running_loop(), guard)
        self._writer.put(pending)
        return await pending.future

    def read(self, project: str, log: LogName, position: int = 0) -> Iterator[Line | Damage]:
        """Every line and every damage from `position` on, without the lock; a log without a file is empty.

        While another server is writing, its last line may be seen half and then counts as torn.
        """
        self._check(project)
        place = self._root.place("projects", project, "logs", f"{log}.jsonl")
        try:
            segments = open_segments(self._root, self._files, project, log)
            if segments is None:
                return
            try:
                for segment in segments.segments:
                    yield from self._read_segment(segment, position)
            finally:
                segments.close()
        except OSError as error:
            raise storage_error(error, place) from error

    def _read_segment(self, segment: Segment, position: int) -> Iterator[Line | Damage]:
        begin = max(0, position - segment.start)
        if segment.size and begin >= segment.size:
            return

        def read_at(size: int, offset: int) -> bytes:
            return self._files.pread(segment.descriptor, size, offset)

        for found in read_lines(read_at, begin, segment.size, segment.file):
            yield Line(segment.start + found.position, found.record) if isinstance(found, Line) else found

    def close(self, seconds: float | None = None) -> None:
        """Accept nothing more, write and sync what waits, for at most `seconds`; call it from any thread.

        What waits longer (for a lock, or for a disk that has stalled) gets StoreError("closed"). The lines that no
        checkpoint covers are signed first, if there is a key.
        """
        begun_ns = self._clock.monotonic_ns()
        if self._notary is not None:
            self._notary.close(seconds)
        spent = (self._clock.monotonic_ns() - begun_ns) / 1e9
        self._writer.close(None if seconds is None else max(0.0, seconds - spent))

    def _notary_with(self, key: Callable[[], SigningKey]) -> Notary:
        signer = Signer(self._root, self._files, self._clock, key, self._report)
        return Notary(signer, self, self._clock, self._report)

    def _check(self, project: str) -> None:
        check_project(project)
        if len(self._known) >= _KNOWN_PROJECTS:
            self._known.clear()
        self._known.add(project)

    def _open(self, project: str) -> Project:
        return Project(
            project,
            self._root,
            self._files,
            self._clock,
            self._randomness,
            self._report,
            self._rotate_bytes,
        )


def _unreported(_damage: Damage) -> None:
    """Nobody asked to be told; `read` still shows every damage."""
