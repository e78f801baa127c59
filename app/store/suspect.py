"""Bytes whose sync failed: noted in the project's lock file, read again by the next process, and reported.

After a failed fdatasync the kernel may have dropped the bytes and call the next sync a success, so the process
that met it writes no more to that log. Only a new start can look at what the device really kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import Final

from app.errors import StoreError
from app.store.lock import NOTES_KEPT, ProjectLock, Suspect
from app.store.log import Damage, LogName
from app.store.logfile import LogFile, Written

_TRIES: Final = 500
_WAIT_SECONDS: Final = 0.01

Report = Callable[[Damage], None]


def note(lock: ProjectLock, log: LogFile, written: Written, report: Report) -> None:
    """Write the range into the lock file; when even that fails, report it."""
    suspect = Suspect(log.name, written.offset, len(written.data), hashlib.sha256(written.data).hexdigest())
    try:
        _acquire(lock)
        try:
            lock.note((*lock.text().suspect, suspect)[-NOTES_KEPT:])
        finally:
            lock.release()
    except (OSError, StoreError):
        report(Damage(log.file, written.offset, len(written.data), "note_failed"))


def examine(lock: ProjectLock, logs: Mapping[LogName, LogFile], report: Report) -> None:
    """Compare what an earlier process noted with what is there now, report both, and clear the notes."""
    suspects = lock.text().suspect
    if not suspects:
        return
    for damage in _compared(suspects, logs):
        report(damage)
    lock.note(())


def _compared(suspects: tuple[Suspect, ...], logs: Mapping[LogName, LogFile]) -> Iterator[Damage]:
    by_name = {str(name): log for name, log in logs.items()}
    for suspect in suspects:
        log = by_name.get(suspect.log)
        if log is None:
            yield Damage(suspect.log, suspect.offset, suspect.length, "suspect_altered")
            continue
        same = _digest(log, suspect) == suspect.sha256
        yield Damage(log.file, suspect.offset, suspect.length, "suspect_same" if same else "suspect_altered")


def _digest(log: LogFile, suspect: Suspect) -> str:
    """Of what stands there now, in bounded memory: the note may be about any range at all."""
    digest = hashlib.sha256()
    for block in log.read_range(suspect.offset, suspect.length):
        digest.update(block)
    return digest.hexdigest()


def _acquire(lock: ProjectLock) -> None:
    pause = Event()
    for _ in range(_TRIES):
        if lock.try_acquire():
            return
        pause.wait(_WAIT_SECONDS)
    raise StoreError("locked", f"{lock.path} is held")
