"""One open project: its lock and logs, and the writing of many lines at once while the lock is held.

Rules: nothing is remembered that other servers may have changed, the true tails are looked at before each write;
ids grow over all logs of the project; a file that is no longer at its path is not written to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, Literal

from app.clock import Clock, utc_text
from app.errors import StoreError
from app.records.codec import head
from app.records.ulid import UlidExhausted, next_ulid, ulid_texts
from app.store import suspect
from app.store.directory import DataDirectory, closing, open_or_create
from app.store.faults import storage_error
from app.store.files import Files
from app.store.lock import ProjectLock, prove_exclusive
from app.store.log import LOGS, LogName, Stored
from app.store.logfile import LogFile, Written
from app.store.pending import Pending, fail
from app.store.suspect import Report

_LOG_FLAGS: Final = os.O_RDWR | os.O_APPEND
_RANDOM_BYTES: Final = 10


class Unsynced:
    """Lines that are in the file and not yet durable."""

    __slots__ = ("log", "waiting", "written")

    def __init__(self, log: LogFile, written: Written, waiting: list[Pending]) -> None:
        self.log = log
        self.written = written
        self.waiting = waiting


class Project:
    """The open files of one project; everything but `try_begin` and `close` needs its lock."""

    def __init__(
        self,
        name: str,
        root: DataDirectory,
        files: Files,
        clock: Clock,
        randomness: Callable[[int], bytes],
        report: Report,
    ) -> None:
        self.name = name
        self._root = root
        self._files = files
        self._clock = clock
        self._randomness = randomness
        self._report = report
        self._logs: dict[LogName, LogFile] = {}
        self._paths = {log: root.place("projects", name, "logs", f"{log}.jsonl") for log in LOGS}
        self._floor: int | None = None
        self._proven = False
        self.lock = self._open_lock()

    def try_begin(self) -> Literal["begun", "held", "moved"]:
        """Take the lock and see what stands in the logs now.

        "held": another server has the lock. "moved": our files are no longer at their paths, open the project
        again. Raises OSError or StoreError. Only after "begun" the lock is ours.
        """
        if not self.lock.try_acquire():
            return "held"
        status = self.lock.status_at_its_path()
        if status is None:
            self.lock.release()
            return "moved"
        try:
            self._prepare(status)
        except BaseException:
            self.lock.release()
            raise
        return "begun"

    def write(self, waiting: Sequence[Pending]) -> list[Unsynced]:
        """Write the lines of all who wait, one write(2) a log; who failed has an outcome afterwards."""
        by_log: dict[LogName, list[Pending]] = {}
        for pending in waiting:
            by_log.setdefault(pending.log, []).append(pending)
        wall_ns = self._clock.wall_ns()
        unsynced = []
        for log, theirs in by_log.items():
            try:
                unsynced.append(self._write_log(log, theirs, wall_ns))
            except OSError as error:
                fail(theirs, storage_error(error, self._paths[log]))
            except StoreError as error:
                fail(theirs, error)
        return unsynced

    def end(self) -> None:
        """Let go of the lock."""
        self.lock.release()

    def close(self) -> None:
        for log in self._logs.values():
            log.close()
        self._files.close(self.lock.descriptor)

    def _open_lock(self) -> ProjectLock:
        path = self._root.place("projects", self.name, "lock")
        with closing(self._files, self._root.made("projects", self.name)) as directory:
            descriptor = open_or_create(self._files, "lock", os.O_RDWR, directory, path)
        return ProjectLock(self._files, descriptor, path)

    def _prepare(self, lock_status: os.stat_result) -> None:
        self.lock.inscribe(lock_status)
        for name in LOGS:
            self._refresh(name)
        if not self._proven:
            self._prove()

    def _prove(self) -> None:
        """Once an opening: locks work here, and what an earlier process left to examine is examined."""
        with closing(self._files, self._root.made("projects", self.name)) as directory:
            second = open_or_create(self._files, "lock", os.O_RDWR, directory, self.lock.path)
        with closing(self._files, second):
            prove_exclusive(self._files, second, self.lock.path)
        suspect.examine(self.lock, self._logs, self._report)
        self._proven = True

    def _refresh(self, name: LogName) -> None:
        """Follow what happened to the log's file: it may have appeared, grown, been replaced or removed."""
        log = self._logs.get(name)
        path = self._paths[name]
        if log is None and not self._files.exists(path):
            return
        try:
            status = self._files.lstat(path)
        except FileNotFoundError:
            self._forget(name)
            return
        if log is None or not log.is_at(status):
            self._forget(name)
            log = self._open_log(name)
        damage = log.catch_up(status.st_size)
        if damage is not None:
            self._report(damage)
        if log.ulid is not None and (self._floor is None or log.ulid > self._floor):
            self._floor = log.ulid

    def _forget(self, name: LogName) -> None:
        gone = self._logs.pop(name, None)
        if gone is not None:
            gone.close()

    def _open_log(self, name: LogName) -> LogFile:
        with closing(self._files, self._root.made("projects", self.name, "logs")) as directory:
            descriptor = open_or_create(
                self._files, f"{name}.jsonl", _LOG_FLAGS, directory, self._paths[name]
            )
        relative = os.path.relpath(self._paths[name], self._root.path)
        log = self._logs[name] = LogFile(self._files, descriptor, name, relative)
        return log

    def _write_log(self, name: LogName, waiting: list[Pending], wall_ns: int) -> Unsynced:
        log = self._logs.get(name) or self._open_log(name)
        at = _stored_time(wall_ns)
        ids = self._next_ids(waiting, wall_ns // 1_000_000)
        lines = [
            head(seq, record_id, at) + pending.tail
            for seq, (record_id, pending) in enumerate(zip(ids, waiting, strict=True), log.seq + 1)
        ]
        written = log.write(lines)
        whole = len(written.positions)
        for seq, (record_id, pending, position) in enumerate(
            zip(ids, waiting, written.positions, strict=False), log.seq + 1
        ):
            pending.outcome = Stored(seq, record_id, at, name, position)
        log.seq += whole
        if whole < len(waiting):
            fail(waiting[whole:], log.shortfall(sum(map(len, lines[whole:]))))
        return Unsynced(log, written, waiting[:whole])

    def _next_ids(self, waiting: Sequence[Pending], now_ms: int) -> list[str]:
        """The ids of one write: the first from the clock and the greatest id there is, the others count up."""
        random80 = int.from_bytes(self._randomness(_RANDOM_BYTES), "big")
        try:
            first = next_ulid(now_ms, self._floor, random80)
            texts = ulid_texts(first, len(waiting))
        except UlidExhausted as error:
            raise StoreError("read_only", str(error)) from error
        self._floor = first + len(waiting) - 1
        return [f"{pending.prefix}_{text}" for pending, text in zip(waiting, texts, strict=True)]


def _stored_time(wall_ns: int) -> str:
    try:
        return utc_text(wall_ns)
    except (ValueError, OverflowError, OSError) as error:
        raise StoreError("io", "the clock of this machine shows a time that cannot be written") from error
