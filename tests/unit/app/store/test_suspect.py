"""Bytes whose sync failed: noted, compared by the next process, and the note cleared."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store import suspect
from app.store.files import Files
from app.store.lock import LockText, ProjectLock, Suspect
from app.store.log import Damage
from app.store.logfile import LogFile, Written
from app.store.scripted import ScriptedFiles


def ignored(_damage: Damage) -> None:
    """What is reported here is tested elsewhere."""


WRITTEN = Written(2, b"cd", [2])


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    """A log file with the bytes `abcdef`."""
    (tmp_path / "f").write_bytes(b"abcdef")
    opened = LogFile(Files(), os.open(tmp_path / "f", os.O_RDWR), "claims", "f")
    yield opened
    opened.close()


def opened(path: Path, files: Files | None = None) -> ProjectLock:
    return ProjectLock(files or Files(), os.open(path, os.O_RDWR | os.O_CREAT, 0o600), str(path))


def test_what_was_noted_is_compared_once(tmp_path: Path, log: LogFile) -> None:
    reported: list[Damage] = []
    lock = opened(tmp_path / "lock")
    suspect.note(lock, log, WRITTEN, reported.append)
    suspect.note(lock, log, Written(4, b"xx", []), reported.append)

    for _ in range(2):
        suspect.examine(lock, {"claims": log}, reported.append)

    assert reported == [Damage("f", 2, 2, "suspect_same"), Damage("f", 4, 2, "suspect_altered")]
    assert lock.text() == LockText(os.getpid(), os.uname().nodename)
    os.close(lock.descriptor)


def test_a_log_that_is_gone_counts_as_altered(tmp_path: Path, log: LogFile) -> None:
    reported: list[Damage] = []
    lock = opened(tmp_path / "lock")
    suspect.note(lock, log, WRITTEN, reported.append)

    suspect.examine(lock, {}, reported.append)

    assert reported == [Damage("claims", 2, 2, "suspect_altered")]
    os.close(lock.descriptor)


@pytest.mark.parametrize(
    ("offset", "length"),
    [
        pytest.param(0, 7, id="behind the end"),
        pytest.param(9, 0, id="beyond the file"),
        pytest.param(0, 0x7FFF_F000, id="more than memory should hold"),
        pytest.param(2**63 - 1, 1, id="where no file can be read"),
    ],
)
def test_a_range_that_is_not_within_the_log_is_altered_and_nothing_of_it_is_read(
    tmp_path: Path, log: LogFile, offset: int, length: int
) -> None:
    reported: list[Damage] = []
    lock = opened(tmp_path / "lock")
    lock.note((Suspect("claims", offset, length, hashlib.sha256(b"abcdef").hexdigest()),))

    suspect.examine(lock, {"claims": log}, reported.append)

    assert reported == [Damage("f", offset, length, "suspect_altered")]
    assert lock.text().suspect == ()
    os.close(lock.descriptor)


def test_a_long_range_is_compared_block_by_block(tmp_path: Path, log: LogFile) -> None:
    reported: list[Damage] = []
    content = bytes(range(251)) * 1000
    (tmp_path / "f").write_bytes(content)
    lock = opened(tmp_path / "lock")
    suspect.note(lock, log, Written(3, content[3:-3], []), reported.append)

    suspect.examine(lock, {"claims": log}, reported.append)

    assert reported == [Damage("f", 3, len(content) - 6, "suspect_same")]
    os.close(lock.descriptor)


def test_the_lock_is_let_go_after_a_note(tmp_path: Path, log: LogFile) -> None:
    lock, other = opened(tmp_path / "lock"), opened(tmp_path / "lock")

    suspect.note(lock, log, WRITTEN, ignored)

    assert other.try_acquire()
    os.close(lock.descriptor)
    os.close(other.descriptor)


def test_a_note_waits_for_the_lock(tmp_path: Path, log: LogFile) -> None:
    reported: list[Damage] = []
    lock = opened(tmp_path / "lock", ScriptedFiles(lock=[BlockingIOError()] * 3))

    suspect.note(lock, log, WRITTEN, reported.append)

    assert (reported, len(lock.text().suspect)) == ([], 1)
    os.close(lock.descriptor)


@pytest.mark.parametrize(
    "device",
    [
        ScriptedFiles(lock=[BlockingIOError()] * 1000),
        ScriptedFiles(fsync=[OSError(errno.EIO, "broken")]),
        ScriptedFiles(lock=[OSError(errno.ENOLCK, "no locks")]),
    ],
    ids=["a lock that is held", "a device that is broken", "no locks"],
)
def test_a_note_that_fails_is_reported(
    tmp_path: Path, log: LogFile, device: ScriptedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suspect, "_WAIT_SECONDS", 0.0)
    reported: list[Damage] = []
    lock = opened(tmp_path / "lock", device)

    suspect.note(lock, log, WRITTEN, reported.append)

    assert reported == [Damage("f", 2, 2, "note_failed")]
    os.close(lock.descriptor)


def test_the_notes_do_not_grow_without_end(tmp_path: Path, log: LogFile) -> None:
    lock = opened(tmp_path / "lock")

    for _ in range(105):
        suspect.note(lock, log, WRITTEN, ignored)

    assert len(lock.text().suspect) == 100
    with (tmp_path / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock.descriptor)
