"""Sealing a log file that has grown to its limit: from then on nobody writes to it, and the log goes on in another.

Each step leaves a log that reads whole and is appended to rightly: the LF is one that any append would write, the
file keeps its inode under its new name, and what follows goes on from the last line of the last sealed file.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Final

from app.errors import StoreError
from app.store.directory import closing, open_file
from app.store.files import Files, read_exactly
from app.store.log import LogName
from app.store.logfile import LogFile, Sealed
from app.store.segments import sealed_name, sealed_names
from app.store.tail import read_tail

ROTATED: Final[frozenset[LogName]] = frozenset({"observations"})
_READ_ONLY: Final = 0o400


def seal(files: Files, directory: int, log: LogFile) -> None:
    """Give the file of a log its name for good; call it with the lock held. Raises OSError and StoreError."""
    log.end_line()
    log.sync()
    name = sealed_name(log.name, log.sealed.end)
    if name in files.names(directory):
        raise StoreError("io", f"{name} is there already; {log.file} cannot be sealed")
    files.rename(f"{log.name}.jsonl", name, directory)
    files.chmod(log.descriptor, _READ_ONLY)  # not before: who finds it under its old name has to write to it
    files.fsync(directory)


def read_sealed(files: Files, directory: int, log: LogName, place: str) -> Sealed:
    """Where the sealed files of a log end, and the last line in them that carries a number and an id."""
    names = sealed_names(files, directory, log)
    if not names:
        return Sealed()
    end = 0
    for start, name in reversed(names):
        with closing(
            files, open_file(files, name, os.O_RDONLY, directory, f"{place} ({name})")
        ) as descriptor:
            size = files.fstat(descriptor).st_size
            end = end or start + size
            tail = read_tail(partial(_read, files, descriptor), 0, size)
        if tail.place is not None:
            return Sealed(end, tail.place.seq, tail.place.ulid)
    return Sealed(end)


def _read(files: Files, descriptor: int, size: int, offset: int) -> bytes:
    return read_exactly(files, descriptor, size, offset)
