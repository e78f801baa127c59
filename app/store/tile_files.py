"""The tiles of a log's tree as files: a sidecar that is made again from the log, and is believed by nobody."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

from app.errors import StoreError
from app.proofs.tiles import WIDTH, Tile
from app.store.directory import DataDirectory, closing, open_file
from app.store.files import Files, read_exactly
from app.store.log import LogName

_TILE_BYTES: Final = WIDTH * 32
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class TileFiles:
    """The tiles below `projects/<project>/tiles/<log>/`. Raises OSError and StoreError."""

    def __init__(self, root: DataDirectory, files: Files, project: str, log: LogName) -> None:
        self._root = root
        self._files = files
        self._names = ("projects", project, "tiles", log)

    def place(self, tile: Tile) -> str:
        """The path of a tile relative to the data directory."""
        return os.path.join(*self._names, *tile.path)

    def exist(self) -> bool:
        """Whether there ever was a tile of this log."""
        directory = self._root.found(*self._names)
        if directory is None:
            return False
        self._files.close(directory)
        return True

    def remove(self, tile: Tile) -> None:
        """Take away a partial tile that a wider one has replaced."""
        *above, name = tile.path
        directory = self._root.found(*self._names, *above)
        if directory is not None:
            with closing(self._files, directory), suppress(FileNotFoundError):
                self._files.unlink(name, directory)

    def read(self, tile: Tile) -> bytes | None:
        """The hashes of a tile; None where it is not there."""
        *above, name = tile.path
        directory = self._root.found(*self._names, *above)
        if directory is None:
            return None
        with closing(self._files, directory):
            try:
                place = self._root.place(*self._names, *tile.path)
                descriptor = open_file(self._files, name, os.O_RDONLY, directory, place)
            except FileNotFoundError:
                return None
            with closing(self._files, descriptor):
                return read_exactly(self._files, descriptor, _TILE_BYTES, 0)

    def write(self, tile: Tile, hashes: bytes) -> None:
        """Put a tile in its place, whole or not at all; it need not be durable."""
        *above, name = tile.path
        directory = self._root.found(*self._names, *above)
        if directory is None:
            directory = self._root.made(*self._names, *above)
        with closing(self._files, directory):
            temporary = f".{name}.{os.getpid()}"
            with suppress(FileNotFoundError):
                self._files.unlink(temporary, directory)  # of a process that died
            with closing(
                self._files, self._files.open(temporary, _WRITE, 0o600, parent=directory)
            ) as descriptor:
                self._files.chmod(descriptor, 0o600)
                if self._files.write(descriptor, hashes) < len(hashes):
                    raise StoreError("no_space", f"{self.place(tile)} could not be written whole")
            self._files.rename(temporary, name, directory)
