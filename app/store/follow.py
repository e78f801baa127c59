"""One log file kept open to be read, and followed when another file stands at its path."""

from __future__ import annotations

import os

from app.records.codec import Damaged, Future, Record, decode
from app.store.directory import DataDirectory, closing, open_file
from app.store.faults import storage_error
from app.store.files import Files, read_exactly
from app.store.log import LogName


class Followed:
    """A log as it grows; needs no lock. Descriptors stay open until `close`, since another thread may be reading."""

    def __init__(self, root: DataDirectory, files: Files, project: str, log: LogName) -> None:
        self.file = os.path.join("projects", project, "logs", f"{log}.jsonl")
        self.generation = 0
        self._root = root
        self._files = files
        self._project = project
        self._path = root.place(self.file)
        self._descriptors: list[int] = []
        self._identity: tuple[int, int] | None = None

    def size(self) -> int:
        """How many bytes there are now; `generation` grows when they are those of another file."""
        try:
            status = self._files.lstat(self._path)
        except FileNotFoundError:
            self._identity = None
            return 0
        except OSError as error:
            raise storage_error(error, self._path) from error
        if (status.st_dev, status.st_ino) != self._identity:
            return self._open()
        return status.st_size

    def read_at(self, size: int, offset: int) -> bytes:
        """`size` bytes at `offset`, or fewer only where the file ends."""
        if self._identity is None:
            return b""
        try:
            return read_exactly(self._files, self._descriptors[-1], size, offset)
        except OSError as error:
            raise storage_error(error, self._path) from error

    def record(self, position: int, length: int) -> Record | Future | None:
        """The line at a place; None where none begins there any more."""
        found = decode(self.read_at(length, position))
        return None if isinstance(found, Damaged) else found

    def close(self) -> None:
        """Let go of the file."""
        for descriptor in self._descriptors:
            self._files.close(descriptor)
        self._descriptors, self._identity = [], None

    def _open(self) -> int:
        try:
            directory = self._root.found("projects", self._project, "logs")
            if directory is None:
                return 0
            with closing(self._files, directory):
                name = os.path.basename(self.file)
                descriptor = open_file(self._files, name, os.O_RDONLY, directory, self._path)
            self._descriptors.append(descriptor)
            status = self._files.fstat(descriptor)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise storage_error(error, self._path) from error
        self._identity = (status.st_dev, status.st_ino)
        self.generation += 1
        return status.st_size
