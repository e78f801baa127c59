"""One open project: its lock and logs, and the writing of many lines at once while the lock is held.

Rules: nothing is remembered that other servers may have changed, the true tails are looked at before each write;
ids grow over all logs of the project; a file that is no longer at its path is not written to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from app.clock import Clock, utc_text
from app.errors import FactsError, StoreError
from app.records.codec import head
from app.records.ulid import UlidExhausted, next_ulid, ulid_texts
from app.store import suspect
from app.store.directory import DataDirectory, closing, open_or_create
from app.store.faults import storage_error
from app.store.files import Files
from app.store.lock import ProjectLock, prove_exclusive
from app.store.log import LOGS, Guard, LogName, Stored
from app.store.logfile import LogFile, Sealed, Written
from app.store.pending import Pending, fail
from app.store.rotation import ROTATED, read_sealed, seal
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
        rotate_bytes: int = 0,
    ) -> None:
        self.name = name
        self._root = root
        self._files = files
        self._clock = clock
        self._randomness = randomness
        self._report = report
        self._rotate_bytes = rotate_bytes
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
            failure = self._rotate(log)
            if failure is not None:
                fail(theirs, failure)
                continue
            for together in _rounds(theirs):
                try:
                    unsynced.append(self._write_round(log, together, wall_ns))
                except OSError as error:
                    fail(together, storage_error(error, self._paths[log]))
                except StoreError as error:
                    fail(together, error)
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
            if not self._proven:  # a server may have died between sealing a file and beginning the next
                self._raise_floor(self._sealed(name).ulid)
            return
        try:
            status = self._files.lstat(path)
        except FileNotFoundError:  # removed, or sealed by a server that died before it began the next
            self._forget(name)
            self._raise_floor(self._sealed(name).ulid)
            return
        if log is None or not log.is_at(status):
            self._forget(name)
            log = self._open_log(name)
        self._catch_up(log, status.st_size)
        self._raise_floor(log.ulid)

    def _raise_floor(self, ulid: int | None) -> None:
        if ulid is not None and (self._floor is None or ulid > self._floor):
            self._floor = ulid

    def _catch_up(self, log: LogFile, size: int) -> None:
        damage = log.catch_up(size)
        if damage is not None:
            self._report(damage)

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
        log = self._logs[name] = LogFile(self._files, descriptor, name, relative, self._sealed(name))
        return log

    def _sealed(self, name: LogName) -> Sealed:
        """The end of the sealed files of a log; only observations have any."""
        directory = self._root.found("projects", self.name, "logs") if name in ROTATED else None
        if directory is None:
            return Sealed()
        with closing(self._files, directory):
            return read_sealed(self._files, directory, name, self._paths[name])

    def _rotate(self, name: LogName) -> StoreError | None:
        """Seal a file that has grown to the limit; before the first write, for its lines are synced later."""
        log = self._logs.get(name)
        if not self._rotate_bytes or name not in ROTATED or log is None or log.end < self._rotate_bytes:
            return None
        if any(each.log == name for each in self.lock.text().suspect):
            return None  # a range whose sync failed is still to be looked at where it was written
        try:
            with closing(self._files, self._root.made("projects", self.name, "logs")) as directory:
                seal(self._files, directory, log)
        except OSError as error:
            return storage_error(error, f"{self._paths[name]} could not be sealed")
        except StoreError as error:
            return error
        finally:
            self._forget(name)  # whatever has its name now is opened anew
        return None

    def _write_round(self, name: LogName, waiting: list[Pending], wall_ns: int) -> Unsynced:
        """Write what the guards admit; a line that stands already has to be synced too, for another may have died."""
        log = self._logs.get(name) or self._open_log(name)
        self._catch_up(log, log.size())
        for pending in waiting:
            if pending.guard is not None:
                _ask(pending, pending.guard)
        standing = [pending for pending in waiting if isinstance(pending.outcome, Stored)]
        unsynced = self._write_log(log, [pending for pending in waiting if pending.outcome is None], wall_ns)
        unsynced.waiting += standing
        return unsynced

    def _write_log(self, log: LogFile, waiting: list[Pending], wall_ns: int) -> Unsynced:
        if not waiting:
            return Unsynced(log, Written(log.end, b"", []), [])
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
            pending.outcome = Stored(seq, record_id, at, log.name, position)
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


def _rounds(waiting: Sequence[Pending]) -> Iterator[list[Pending]]:
    """Those who wait, parted so that no two of a round are about the same thing."""
    while waiting:
        now: list[Pending] = []
        later: list[Pending] = []
        taken: set[bytes] = set()
        for pending in waiting:
            keys = pending.guard.keys if pending.guard else frozenset()
            (later if taken & keys else now).append(pending)
            taken |= keys
        yield now
        waiting = later


def _ask(pending: Pending, guard: Guard) -> None:
    try:
        pending.outcome = guard.decide()
    except FactsError as error:
        pending.outcome = error


def _stored_time(wall_ns: int) -> str:
    try:
        return utc_text(wall_ns)
    except (ValueError, OverflowError, OSError) as error:
        raise StoreError("io", "the clock of this machine shows a time that cannot be written") from error
