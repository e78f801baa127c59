"""What can be found out about the store without writing anything."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.records.names import BadProjectName
from app.store.examine import (
    DAMAGE_SHOWN,
    Directory,
    LockState,
    LogState,
    examine_directory,
    examine_lock,
    examine_log,
    examine_project,
)
from app.store.file import FileLog
from app.store.lock import LockText
from app.store.log import Damage
from app.store.scripted import ScriptedFiles

Lines = Callable[[Sequence[int]], bytes]
Place = Callable[..., Path]
OBSERVATIONS = "projects/p/logs/observations.jsonl"


@pytest.fixture
def store(tmp_path: Path) -> FileLog:
    """A log that nothing was appended to."""
    return FileLog(str(tmp_path), SystemClock())


def test_a_data_directory_is_described(tmp_path: Path) -> None:
    found = examine_directory(str(tmp_path), ScriptedFiles(free_bytes=[5], is_mount=[1]))

    assert found == Directory(str(tmp_path), exists=True, writable=True, mount=True, free_bytes=5)


def test_a_missing_data_directory_is_described(tmp_path: Path) -> None:
    path = str(tmp_path / "missing")

    assert examine_directory(path) == Directory(
        path, exists=False, writable=False, mount=False, free_bytes=None
    )


def test_records_and_damage_are_counted_without_writing(
    store: FileLog, place: Place, lines: Lines, tmp_path: Path
) -> None:
    good = lines([1, 2])
    place(good + b"x\n" + b'{"v":2}\n' + lines([3]) + b"torn")
    before = sorted(tmp_path.rglob("*"))

    found = examine_log(store, "p", "observations")

    damage = (
        Damage(OBSERVATIONS, len(good), 1, "not_json"),
        Damage(OBSERVATIONS, len(good) + 10 + len(lines([3])), 4, "torn"),
    )
    assert found == LogState("observations", 4, 1, 2, damage, 3)
    assert sorted(tmp_path.rglob("*")) == before


def test_only_the_first_damages_are_shown(store: FileLog, place: Place) -> None:
    place(b"x\n" * (DAMAGE_SHOWN + 5))

    found = examine_log(store, "p", "observations")

    assert (found.damaged, len(found.damage), found.last_seq) == (DAMAGE_SHOWN + 5, DAMAGE_SHOWN, None)


def test_every_log_of_a_project_is_examined(store: FileLog) -> None:
    assert [(state.log, state.records) for state in examine_project(store, "p")] == [
        ("observations", 0),
        ("claims", 0),
        ("documents", 0),
        ("checkpoints", 0),
    ]


@pytest.mark.parametrize("made", [False, True])
def test_a_lock_that_does_not_exist_is_absent(tmp_path: Path, place: Place, made: bool) -> None:  # noqa: FBT001 - a column of the table
    if made:
        place()

    assert examine_lock(str(tmp_path), "p") == LockState("absent", LockText())


def test_a_held_and_a_free_lock_are_told_apart(tmp_path: Path, place: Place) -> None:
    place()
    lock = tmp_path / "projects" / "p" / "lock"
    lock.write_text('{"pid":7,"host":"h"}')
    with lock.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        held = examine_lock(str(tmp_path), "p")

    text = LockText(7, "h")
    assert (held, examine_lock(str(tmp_path), "p")) == (LockState("held", text), LockState("free", text))


def test_a_lock_that_does_not_work_is_unusable(tmp_path: Path, place: Place) -> None:
    place()
    (tmp_path / "projects" / "p" / "lock").touch()
    device: Any = ScriptedFiles(lock=[OSError(errno.ENOLCK, "no locks")])

    assert examine_lock(str(tmp_path), "p", device) == LockState("unusable", LockText())


def test_a_lock_that_cannot_be_opened_is_a_typed_error(tmp_path: Path) -> None:
    device = ScriptedFiles(open=[OSError(errno.EACCES, "no")])

    with pytest.raises(StoreError) as failure:
        examine_lock(str(tmp_path), "p", device)

    assert failure.value.reason == "permission"


def test_only_normalised_names_are_examined(tmp_path: Path) -> None:
    with pytest.raises(BadProjectName):
        examine_lock(str(tmp_path), "../p")

    assert os.listdir(tmp_path) == []
