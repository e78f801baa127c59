"""The writer's thread: takes what waits, writes and syncs it together, and wakes those who waited (group commit).

While one batch is being synced the next one collects in the queue. A project whose lock another server holds is
tried again with growing pauses, and does not keep the others waiting. An error that was not foreseen fails the
project that met it and no other: even when it ends the thread, another one takes over what waits.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from app.clock import Clock
from app.errors import StoreError
from app.store import suspect
from app.store.faults import storage_error
from app.store.log import Damage, LogName
from app.store.notary import Notary
from app.store.pending import Pending, fail, refuse, settle
from app.store.project import Project, Unsynced
from app.store.suspect import Report

OPEN_PROJECTS: Final = 32
"""Each open project holds two to five descriptors."""

_FIRST_PAUSE_SECONDS: Final = 0.0002
_LONGEST_PAUSE_SECONDS: Final = 0.02
_ATTEMPTS: Final = 3

_UNFORESEEN: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a mistake in the store, or content that nobody thought of, raises."""


class Writer:
    """One thread that writes for the whole process; it starts with the first append."""

    def __init__(
        self,
        open_project: Callable[[str], Project],
        clock: Clock,
        lock_limit_ns: int,
        report: Report,
        notary: Notary | None = None,
    ) -> None:
        self._open_project = open_project
        self._clock = clock
        self._lock_limit_ns = lock_limit_ns
        self._report = report
        self._notary = notary
        self._queue: queue.SimpleQueue[Pending | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._stopping = False
        self._left = False
        self._serving: str | None = None
        self._waiting: dict[str, list[Pending]] = {}
        self._blocked_since: dict[str, int] = {}
        self._pause = _FIRST_PAUSE_SECONDS
        self._projects: dict[str, Project] = {}
        self._unsyncable: dict[tuple[str, LogName], str] = {}

    def put(self, pending: Pending) -> None:
        """Hand an append over; StoreError("closed") after `close`."""
        with self._guard:
            if self._closed:
                raise StoreError("closed", "the log is closed")
            if self._thread is None:
                self._start()
            self._queue.put(pending)

    def close(self, seconds: float | None = None) -> None:
        """Accept nothing more, write what waits, end the thread.

        After `seconds` the thread is left behind, and who still waits gets StoreError("closed").
        """
        with self._guard:
            self._closed = True
            self._queue.put(None)
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
            if thread.is_alive():
                self._leave()

    def _leave(self) -> None:
        with self._guard:
            self._left = True  # the thread ends as soon as it looks
            refuse(self._all_waiting(), StoreError("closed", "the log was closed meanwhile"))
            self._queue.put(None)  # the word to end was taken out with the rest

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            raise StoreError("io", f"the writer cannot be started: {error}") from error
        self._thread = thread

    def _run(self) -> None:
        try:
            while not self._left and (self._waiting or not self._stopping):
                self._collect()
                self._serve_all()
        finally:
            self._end()

    def _serve_all(self) -> None:
        for name in list(self._waiting):
            if self._left:
                break
            self._serving = name
            self._serve(name)
        self._serving = None

    def _collect(self) -> None:
        """Wait for an append, or for the next try where a lock is held, and take all that wait."""
        try:
            first = self._queue.get(timeout=self._pause if self._waiting else None)
            with self._guard:  # who leaves the thread behind sees each line in the queue or among the waiting
                self._take(first)
                while not self._queue.empty():
                    self._take(self._queue.get_nowait())
        except queue.Empty:
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)

    def _take(self, pending: Pending | None) -> None:
        if pending is None:
            self._stopping = True
        elif self._unsyncable and (pending.project, pending.log) in self._unsyncable:
            fail([pending], StoreError("read_only", self._unsyncable[pending.project, pending.log]))
            settle([pending])
        else:
            self._waiting.setdefault(pending.project, []).append(pending)

    def _serve(self, name: str) -> None:
        """Write for one project, or leave it waiting while its lock is held."""
        waiting = self._waiting[name]
        unforeseen = False
        try:
            project = self._begun(name)
            if project is None:
                return
            self._write(project, waiting)
        except StoreError as error:
            self._give_up(name, error)
        except OSError as error:
            self._give_up(name, storage_error(error, f"project {name}"))
        except _UNFORESEEN as error:
            unforeseen = True
            self._give_up(
                name, StoreError("io", f"project {name}: unforeseen {type(error).__name__}: {error}")
            )
        del self._waiting[name]
        self._blocked_since.pop(name, None)
        self._pause = _FIRST_PAUSE_SECONDS
        settle(waiting)
        if unforeseen:
            self._report(Damage(f"projects/{name}", 0, 0, "writer_failed"))

    def _begun(self, name: str) -> Project | None:
        """The project with its lock taken; None while another server holds it."""
        for _ in range(_ATTEMPTS):
            project = self._opened(name)
            state = project.try_begin()
            if state == "begun":
                return project
            if state == "held":
                self._check_patience(name, project)
                return None
            self._drop(name)
        raise StoreError("io", f"the lock of project {name} is replaced again and again")

    def _opened(self, name: str) -> Project:
        project = self._projects.pop(name, None) or self._open_project(name)
        self._projects[name] = project  # the last in the order is the one used last
        if len(self._projects) > OPEN_PROJECTS:
            self._drop(next(iter(self._projects)))
        return project

    def _check_patience(self, name: str, project: Project) -> None:
        now = self._clock.monotonic_ns()
        waited = now - self._blocked_since.setdefault(name, now)
        if waited >= self._lock_limit_ns:
            holder = project.lock.text()
            raise StoreError(
                "locked",
                f"project {name} has been locked for {waited / 1e9:.1f} s by process {holder.pid} on {holder.host!r}",
            )

    def _write(self, project: Project, waiting: Sequence[Pending]) -> None:
        try:
            batches = project.write(waiting)
        finally:
            project.end()
        for batch in batches:
            self._sync(project, batch)

    def _sync(self, project: Project, batch: Unsynced) -> None:
        if reason := self._unsyncable.get((project.name, batch.log.name)):
            fail(batch.waiting, StoreError("read_only", reason))
            return  # after a failed sync the kernel may call the next one a success
        try:
            batch.log.sync()
        except OSError as error:
            failure = storage_error(error, f"{batch.log.file} could not be synced")
            fail(batch.waiting, failure)
            self._unsyncable[project.name, batch.log.name] = (
                f"{failure.message}; nothing more is written to it until this server is started again"
            )
            if self._notary:
                self._notary.could_not_sync(project.name, batch.log.name)
            suspect.note(project.lock, batch.log, batch.written, self._report)
            return
        if self._notary and batch.written.positions:
            self._notary.wrote(project.name, batch.log.name, len(batch.written.positions), batch.log.seq)

    def _give_up(self, name: str, error: StoreError) -> None:
        fail(self._waiting[name], error)
        self._drop(name)  # whatever is wrong, the next append looks at everything anew

    def _drop(self, name: str) -> None:
        project = self._projects.pop(name, None)
        if project is not None:
            project.close()

    def _end(self) -> None:
        """At the end of the thread, the foreseen one or not, nobody is left waiting."""
        with self._guard:
            projects, self._projects = self._projects, {}
            lost = self._lost()
            self._serving = self._thread = None
            try:
                if not self._closed and (self._waiting or not self._queue.empty()):
                    self._start()
            finally:
                settle(lost)
        for project in projects.values():
            project.close()

    def _lost(self) -> list[Pending]:
        """Those whom nobody will serve any more, with their outcome; the others are left for the next thread."""
        if self._closed or self._serving is None:
            lost = self._all_waiting()
            self._waiting.clear()
        else:
            lost = self._waiting.pop(self._serving, [])
        self._blocked_since.clear()
        fail(lost, StoreError("closed" if self._closed else "io", "the writer has ended"))
        return lost

    def _all_waiting(self) -> list[Pending]:
        left = [pending for waiting in list(self._waiting.values()) for pending in waiting]
        with suppress(queue.Empty):  # as it ends
            while True:
                pending = self._queue.get_nowait()
                left.extend([pending] if pending else [])
        return left
