"""The scripted device follows its script and is a real file system otherwise."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from app.store.scripted import ScriptedFiles


def test_a_step_is_played_once(tmp_path: Path) -> None:
    device = ScriptedFiles(write=[OSError(errno.EIO, "broken"), 2, None])
    descriptor = device.open(str(tmp_path / "f"), os.O_RDWR | os.O_CREAT)

    with pytest.raises(OSError, match="broken"):
        device.write(descriptor, b"abcd")
    counts = [device.write(descriptor, b"abcd"), device.write(descriptor, b"efgh")]
    device.close(descriptor)

    assert (counts, (tmp_path / "f").read_bytes(), device.calls["write"]) == ([2, 4], b"abefgh", 3)


def test_a_number_makes_the_other_calls_do_nothing(tmp_path: Path) -> None:
    device = ScriptedFiles(fsync=[0], fdatasync=[0], lock=[0], unlock=[0], pwrite=[0], link=[0])

    device.fsync(-1)
    device.fdatasync(-1)
    device.lock(-1)
    device.unlock(-1)
    device.link("a", "b", -1)

    assert device.pwrite(-1, b"abc", 0) == 3
    with pytest.raises(OSError, match="Bad file descriptor"):
        device.fsync(1 << 30)


def test_mounts_and_space_are_answered_from_the_script() -> None:
    device = ScriptedFiles(is_mount=[1, 0], free_bytes=[7])

    assert (device.is_mount("/x"), device.is_mount("/"), device.free_bytes(-1)) == (True, False, 7)
