"""What `doctor` wants to know about the store, found out without writing anything."""

from __future__ import annotations

import os
from typing import Final, Literal

import msgspec

from app.records.codec import Future
from app.records.names import check_project
from app.store.directory import DataDirectory, closing, open_file
from app.store.faults import storage_error
from app.store.file import FileLog
from app.store.files import Files, read_exactly
from app.store.lock import LockText, lock_text
from app.store.log import LOGS, Damage, LogName

DAMAGE_SHOWN: Final = 100

_LOCK_TEXT_BYTES: Final = 64 * 1024


class Directory(msgspec.Struct, frozen=True):
    """The data directory: whether it exists, can be written to and is a mount point, and its free bytes."""

    path: str
    exists: bool
    writable: bool
    mount: bool
    free_bytes: int | None


class LockState(msgspec.Struct, frozen=True):
    """`held`: a server is writing at this moment; `text` is what the last holder wrote."""

    state: Literal["absent", "free", "held", "unusable"]
    text: LockText


class LogState(msgspec.Struct, frozen=True):
    """What one log holds; `damage` shows the first `DAMAGE_SHOWN` of `damaged`."""

    log: LogName
    records: int
    future: int
    damaged: int
    damage: tuple[Damage, ...]
    last_seq: int | None


def examine_directory(data_dir: str, files: Files | None = None) -> Directory:
    """The state of the data directory; one that cannot be opened counts as not existing."""
    device = files or Files()
    path = os.path.abspath(data_dir)
    try:
        with closing(device, device.open(path, os.O_RDONLY | os.O_DIRECTORY)) as descriptor:
            free_bytes = device.free_bytes(descriptor)
    except OSError:
        return Directory(path, exists=False, writable=False, mount=False, free_bytes=None)
    writable = os.access(path, os.W_OK | os.X_OK)
    return Directory(path, exists=True, writable=writable, mount=device.is_mount(path), free_bytes=free_bytes)


def examine_lock(data_dir: str, project: str, files: Files | None = None) -> LockState:
    """The state of a project's lock; it is taken for an instant to find out whether somebody holds it."""
    check_project(project)
    device = files or Files()
    root = DataDirectory(data_dir, device)
    place = root.place("projects", project, "lock")
    try:
        directory = root.found("projects", project)
        if directory is None:
            return LockState("absent", LockText())
        with closing(device, directory):
            descriptor = open_file(device, "lock", os.O_RDONLY, directory, place)
    except FileNotFoundError:
        return LockState("absent", LockText())
    except OSError as error:
        raise storage_error(error, place) from error
    with closing(device, descriptor):
        text = lock_text(read_exactly(device, descriptor, _LOCK_TEXT_BYTES, 0))
        return LockState(_try(device, descriptor), text)


def examine_log(store: FileLog, project: str, log: LogName) -> LogState:
    """Count what a log holds by reading all of it."""
    records = future = damaged = 0
    shown: list[Damage] = []
    last_seq: int | None = None
    for found in store.read(project, log):
        if isinstance(found, Damage):
            damaged += 1
            shown.extend([found] if damaged <= DAMAGE_SHOWN else [])
            continue
        records += 1
        future += isinstance(found.record, Future)
        last_seq = found.record.seq or last_seq
    return LogState(log, records, future, damaged, tuple(shown), last_seq)


def examine_project(store: FileLog, project: str) -> tuple[LogState, ...]:
    """Every log of a project."""
    return tuple(examine_log(store, project, log) for log in LOGS)


def _try(files: Files, descriptor: int) -> Literal["free", "held", "unusable"]:
    try:
        files.lock(descriptor)
    except BlockingIOError:
        return "held"
    except OSError:
        return "unusable"
    files.unlock(descriptor)
    return "free"
