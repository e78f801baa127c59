"""Directories and files below the data directory, opened step by step so that no symbolic link is followed.

Each step is relative to the descriptor of the one before, with O_NOFOLLOW: whoever can write into the data
directory cannot make us write elsewhere. The data directory itself may be reached over links; it is the operator's.
Every directory passed on the way to writing is synced, for whoever made an entry may have died before syncing it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal

from app.errors import StoreError
from app.store.faults import storage_error
from app.store.files import Files

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY
_ATTEMPTS: Final = 5

Mount = Literal["any", "require"]


class DataDirectory:
    """The data directory, and the way down from it; descriptors that it returns are the caller's to close."""

    def __init__(self, path: str, files: Files, mount: Mount = "any") -> None:
        self.path = os.path.abspath(path)
        self._files = files
        self._mount = mount

    def place(self, *names: str) -> str:
        """The absolute path, for messages and for asking whether a file is still the one at its path."""
        return os.path.join(self.path, *names)

    def made(self, *names: str) -> int:
        """The descriptor of the directory `names` (each inside the one before), made where it is missing."""
        if self._mount == "require" and not self._files.is_mount(self.path):
            raise StoreError(
                "no_volume", f"{self.path} is not a mount point, and a mounted volume is required"
            )
        if not self._files.exists(self.path):
            self._make_root()
        descriptor = self._files.open(self.path, _DIRECTORY)
        for depth, name in enumerate(names, 1):
            with closing(self._files, descriptor):
                self._make(name, descriptor)
                descriptor = open_below(self._files, name, _DIRECTORY, descriptor, self.place(*names[:depth]))
        return descriptor

    def found(self, *names: str) -> int | None:
        """The descriptor of the directory `names`, or None where one of them does not exist."""
        try:
            descriptor = self._files.open(self.path, _DIRECTORY)
            for depth, name in enumerate(names, 1):
                with closing(self._files, descriptor):
                    descriptor = open_below(
                        self._files, name, _DIRECTORY, descriptor, self.place(*names[:depth])
                    )
        except FileNotFoundError:
            return None
        return descriptor

    def _make_root(self) -> None:
        self._files.make_tree(self.path)
        descriptor = self._files.open(os.path.dirname(self.path), _DIRECTORY)
        with closing(self._files, descriptor):
            self._files.fsync(descriptor)

    def _make(self, name: str, parent: int) -> None:
        with suppress(FileExistsError):  # what stands there is examined when it is opened
            self._files.mkdir(name, parent)
        self._files.fsync(parent)


@contextmanager
def closing(files: Files, descriptor: int) -> Iterator[int]:
    """Close `descriptor` at the end of the block."""
    try:
        yield descriptor
    finally:
        files.close(descriptor)


def open_file(files: Files, name: str, flags: int, parent: int, place: str) -> int:
    """Open an existing regular file; a symbolic link, or anything else, is a StoreError that names `place`."""
    descriptor = open_below(files, name, flags | os.O_NONBLOCK, parent, place)
    if not stat.S_ISREG(files.fstat(descriptor).st_mode):
        files.close(descriptor)
        raise StoreError("io", f"{place} is not a regular file")
    return descriptor


def open_or_create(files: Files, name: str, flags: int, parent: int, place: str) -> int:
    """Open a regular file, made 0600 whatever the umask where it is missing; it and its directory are synced."""
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError):
            return _synced(files, open_file(files, name, flags, parent, place), parent)
        with suppress(FileExistsError):  # another server made it in between
            descriptor = files.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600, parent=parent)
            return _synced(files, descriptor, parent, made=True)
    raise StoreError("io", f"{place} keeps appearing and disappearing")


def _synced(files: Files, descriptor: int, parent: int, *, made: bool = False) -> int:
    try:
        if made:
            files.chmod(descriptor, 0o600)
        files.fsync(descriptor)
        files.fsync(parent)
    except OSError:
        files.close(descriptor)
        raise
    return descriptor


def open_below(files: Files, name: str, flags: int, parent: int, place: str) -> int:
    """Open `name` in the directory `parent` without following a link, which would be StoreError("symlink")."""
    try:
        return files.open(name, flags | os.O_NOFOLLOW, parent=parent)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
            raise
        if stat.S_ISLNK(files.lstat(name, parent=parent).st_mode):
            raise StoreError("symlink", f"{place} is a symbolic link, and none is followed") from error
        raise storage_error(error, place) from error


def projects_of(data_dir: str) -> list[str]:
    """The names of all projects of a data directory, in order; none where there is no such place."""
    try:
        with os.scandir(os.path.join(data_dir, "projects")) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
