"""The text of a lock is information only; the lock itself is the kernel's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.store.files import Files
from app.store.lock import LockText, ProjectLock, Suspect, lock_text
from app.store.scripted import ScriptedFiles

NOTE = b'{"log":"observations","offset":%d,"length":%d,"sha256":""}'


def opened(path: Path, files: Files | None = None) -> ProjectLock:
    device = files or Files()
    return ProjectLock(device, os.open(path, os.O_RDWR | os.O_CREAT, 0o600), str(path))


def inscribed(lock: ProjectLock) -> None:
    status = lock.status_at_its_path()
    assert status is not None
    lock.inscribe(status)


def test_one_holds_the_lock_and_the_other_does_not(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "lock"), opened(tmp_path / "lock")

    states = [one.try_acquire(), other.try_acquire()]
    one.release()
    states.append(other.try_acquire())

    assert states == [True, False, True]
    os.close(one.descriptor)
    os.close(other.descriptor)


def test_the_holder_is_named_and_notes_of_others_are_kept(tmp_path: Path) -> None:
    suspect = {"log": "claims", "offset": 1, "length": 2, "sha256": "00"}
    (tmp_path / "lock").write_text(json.dumps({"pid": 1, "host": "x" * 200, "suspect": [suspect]}))
    lock = opened(tmp_path / "lock")

    inscribed(lock)

    assert json.loads((tmp_path / "lock").read_text()) == {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "suspect": [suspect],
    }
    os.close(lock.descriptor)


def test_the_text_is_written_once_while_nobody_else_writes_it(tmp_path: Path) -> None:
    device = ScriptedFiles()
    lock = opened(tmp_path / "lock", device)

    for _ in range(3):
        inscribed(lock)

    assert device.calls["pwrite"] == 1
    os.close(lock.descriptor)


def test_a_note_is_durable_and_read_back(tmp_path: Path) -> None:
    device = ScriptedFiles()
    lock = opened(tmp_path / "lock", device)
    suspect = Suspect("claims", 1, 2, "00")

    lock.note((suspect,))

    assert lock.text() == LockText(os.getpid(), os.uname().nodename, (suspect,))
    assert device.calls["fsync"] == 1
    os.close(lock.descriptor)


def test_a_lock_file_that_was_removed_or_replaced_is_noticed(tmp_path: Path) -> None:
    lock = opened(tmp_path / "lock")
    (tmp_path / "lock").unlink()
    removed = lock.status_at_its_path()
    (tmp_path / "lock").touch()

    assert (removed, lock.status_at_its_path()) == (None, None)
    os.close(lock.descriptor)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        b"[1]",
        b'{"pid":"x"}',
        b"\xff",
        b'{"pid":1',
        b'{"host":"\xff"}',
        b'{"pid":1,"host":"%b"}' % (b"x" * 256),
        b'{"x":' + b"[" * 60_000,
        b'{"pid":1,"suspect":[%b]}' % NOTE % (-1, 0),
        b'{"pid":1,"suspect":[%b]}' % NOTE % (0, -1),
        b'{"pid":1,"suspect":[%b]}' % NOTE % (2**63, 0),
        b'{"pid":1,"suspect":[%b]}' % NOTE % (2**64, 0),
        b'{"pid":1,"suspect":[%b]}' % NOTE % (0, 2**31),
        b'{"pid":1,"suspect":[%b]}' % b",".join([NOTE % (0, 1)] * 101),
    ],
    ids=[
        "nothing",
        "NULs",
        "no object",
        "a process that is no number",
        "no UTF-8",
        "half a text",
        "a name that is no UTF-8",
        "a name that no host has",
        "nested deeper than can be read",
        "a range before the file",
        "a range that goes backwards",
        "a range behind every file",
        "an offset of more than 64 bits",
        "a range longer than a write",
        "more ranges than are kept",
    ],
)
def test_any_other_text_says_nothing(content: bytes) -> None:
    assert lock_text(content) == LockText()


def test_a_text_with_a_process_alone_is_understood() -> None:
    assert lock_text(b'{"pid":1}') == LockText(1)
