"""The way down from the data directory, one step at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.errors import StoreError
from app.store.directory import DataDirectory, closing, open_or_create, projects_of
from app.store.files import Files
from app.store.scripted import ScriptedFiles


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_directories_are_made_and_found_again(tmp_path: Path) -> None:
    root = DataDirectory(str(tmp_path), Files())
    with closing(Files(), root.made("a", "b")) as made:
        inode = os.fstat(made).st_ino

    found = root.found("a", "b")

    assert found is not None
    with closing(Files(), found):
        assert os.fstat(found).st_ino == inode == (tmp_path / "a" / "b").stat().st_ino


def test_a_directory_that_is_missing_is_not_found(tmp_path: Path) -> None:
    root = DataDirectory(str(tmp_path), Files())

    assert root.found("a", "b") is None
    assert list(tmp_path.iterdir()) == []


def test_every_directory_on_the_way_is_synced_also_when_another_made_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    device = ScriptedFiles()

    os.close(DataDirectory(str(tmp_path), device).made("a", "b"))

    assert device.calls["fsync"] == 2


@pytest.mark.parametrize(
    "script", [{"fsync": [OSError(errno.EIO, "x")]}, {"open": [None, OSError(errno.EIO, "x")]}]
)
def test_a_failure_on_the_way_leaves_nothing_open(
    tmp_path: Path, script: dict[str, Sequence[OSError]]
) -> None:
    before = descriptors()

    with pytest.raises(OSError, match="x"):
        DataDirectory(str(tmp_path), ScriptedFiles(**script)).made("a", "b")

    assert descriptors() == before


def test_a_file_is_opened_when_another_server_makes_it_in_between(tmp_path: Path) -> None:
    class Overtaken(Files):
        def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
            if flags & os.O_CREAT:
                (tmp_path / path).write_text("theirs")
            return super().open(path, flags, mode, parent=parent)

    with closing(Files(), os.open(tmp_path, os.O_RDONLY)) as parent:
        descriptor = open_or_create(Overtaken(), "f", os.O_RDWR, parent, "f")

    with closing(Files(), descriptor):
        assert os.pread(descriptor, 9, 0) == b"theirs"


def test_a_file_that_comes_and_goes_is_given_up(tmp_path: Path) -> None:
    class Flickering(Files):
        def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
            raise FileExistsError if flags & os.O_CREAT else FileNotFoundError

    with closing(Files(), os.open(tmp_path, os.O_RDONLY)) as parent, pytest.raises(StoreError) as failure:
        open_or_create(Flickering(), "f", os.O_RDWR, parent, "place/f")

    assert (failure.value.reason, "place/f" in failure.value.message) == ("io", True)


def test_a_new_file_that_cannot_be_synced_is_closed_again(tmp_path: Path) -> None:
    device = ScriptedFiles(fsync=[OSError(errno.ENOSPC, "full")])
    with closing(device, os.open(tmp_path, os.O_RDONLY)) as parent:
        before = descriptors()

        with pytest.raises(OSError, match="full"):
            open_or_create(device, "f", os.O_RDWR, parent, "f")

        assert descriptors() == before


def test_projects_are_the_directories_below_their_place(tmp_path: Path) -> None:
    (tmp_path / "projects/shop/logs").mkdir(parents=True)
    (tmp_path / "projects/file").write_text("")
    (tmp_path / "projects/link").symlink_to(tmp_path)

    assert projects_of(str(tmp_path)) == ["shop"]


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_where_there_are_none_there_are_none(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")

    assert projects_of(str(tmp_path / place)) == []
