"""The real system calls, where they do more than their name says."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from app.store.files import Files, read_exactly
from app.store.scripted import ScriptedFiles


def test_reading_exactly_goes_on_after_a_short_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    device = ScriptedFiles(pread=[3, 1])
    descriptor = device.open(str(tmp_path / "f"), os.O_RDONLY)

    assert read_exactly(device, descriptor, 8, 1) == b"12345678"
    device.close(descriptor)


def test_reading_exactly_ends_where_the_file_ends(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123")
    descriptor = os.open(tmp_path / "f", os.O_RDONLY)

    assert read_exactly(Files(), descriptor, 8, 1) == b"123"
    os.close(descriptor)


def test_a_lock_excludes_every_other_descriptor(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w") as one, (tmp_path / "f").open() as other:
        Files().lock(one.fileno())

        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        Files().unlock(one.fileno())
        Files().lock(other.fileno())


def test_a_directory_is_private_whatever_the_umask(tmp_path: Path) -> None:
    parent = os.open(tmp_path, os.O_RDONLY)
    earlier = os.umask(0o777)
    try:
        Files().mkdir("d", parent)
    finally:
        os.umask(earlier)
        os.close(parent)

    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700


def test_descriptors_are_not_inherited(tmp_path: Path) -> None:
    descriptor = Files().open(str(tmp_path), os.O_RDONLY)

    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


def test_space_mounts_and_existence_are_asked_of_the_system(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    files = Files()

    answers = (files.is_mount("/"), files.is_mount(str(tmp_path)), files.exists(str(tmp_path / "no")))
    free = files.free_bytes(descriptor)
    os.close(descriptor)

    assert (answers, free > 0) == ((True, False, False), True)
