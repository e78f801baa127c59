"""The file of an index, opened so that SQLite works there: write-ahead log, rollback journal, or memory alone.

`sqlite3` of the standard library, not `apsw`: both served in all measurements, and this one is there already.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, NamedTuple

from app.errors import StoreError, StoreReason
from app.store.directory import DataDirectory, closing, open_or_create
from app.store.files import Files

Keeping = Literal["wal", "rollback", "memory"]
"""How the index is kept; `memory`: nothing can be written where it belongs, so each process has its own."""

BUSY_SECONDS: Final = 1.0
"""How long a lock that another server holds is waited for: whoever asks is answered from what is there."""
_PAUSE_SECONDS: Final = 0.005

_BESIDE: Final = ("-wal", "-shm", "-journal")
_BROKEN: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REASONS: Final[dict[int, StoreReason]] = {
    sqlite3.SQLITE_FULL: "no_space",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_CANTOPEN: "permission",
}
_NO_SHARED_MEMORY: Final = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "fuse.grpcfuse",
        "fuse.osxfs",
        "fakeowner",
        "vboxsf",
    }
)
"""File systems on which a write-ahead log does not work, or only seems to."""
_COMMON: Final = ("PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=OFF", "PRAGMA foreign_keys=OFF")
_READING: Final = ("PRAGMA query_only=ON",)


class IndexBroken(Exception):
    """The file is no index that can be used: it is made anew; nothing is lost with it."""


class IndexFailed(StoreError):
    """The index cannot be read or written now; `locked`: somebody else is writing it."""


class IndexFile(NamedTuple):
    """Where an index is kept, and how; `path` is empty for memory."""

    path: str
    keeping: Keeping

    def connect(self, *, readonly: bool = False) -> sqlite3.Connection:
        """A connection for any thread, one at a time; transactions are begun by hand."""
        with mapped(self.path or "the index in memory"):
            name = self.path or ":memory:"
            connection = sqlite3.connect(name, timeout=0, isolation_level=None, check_same_thread=False)
            try:
                for statement in (*_COMMON, *self._durability(), *(_READING if readonly else ())):
                    _insist(connection, statement)
                connection.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
            except sqlite3.Error:
                connection.close()
                raise
            return connection

    def _durability(self) -> tuple[str, ...]:
        journal = {"wal": "WAL", "rollback": "DELETE", "memory": "MEMORY"}[self.keeping]
        return f"PRAGMA journal_mode={journal}", "PRAGMA synchronous=NORMAL"


def index_file(root: DataDirectory, files: Files, project: str, tokenizer: str) -> IndexFile:
    """The place of a project's index, made where it is missing; a symbolic link there is a StoreError."""
    name = _name(tokenizer)
    path = root.place("projects", project, name)
    try:
        with closing(files, root.made("projects", project)) as directory:
            is_new = not files.exists(path)
            for beside in _BESIDE:
                _refuse_link(files, name + beside, directory, path + beside)
                if is_new:  # what an index that was deleted left would be taken for a part of the new one
                    with suppress(FileNotFoundError):
                        files.unlink(name + beside, directory)
            with closing(files, open_or_create(files, name, os.O_RDWR, directory, path)):
                pass
    except StoreError as error:
        if error.reason in {"symlink", "io"}:
            raise
        return IndexFile("", "memory")
    except OSError:
        return IndexFile("", "memory")  # a read-only volume, a full one, or one that is not ours
    return IndexFile(path, "wal" if wal_works(path, _mounts()) else "rollback")


def examine_index(data_dir: str, project: str, tokenizer: str) -> tuple[int | None, Keeping]:
    """The size of an index, None where there is none, and how it is or would be kept; nothing is made."""
    path = os.path.join(data_dir, "projects", project, _name(tokenizer))
    keeping: Keeping = "wal" if wal_works(path, _mounts()) else "rollback"
    if not os.access(os.path.dirname(path), os.W_OK | os.X_OK):
        keeping = "memory"
    try:
        return os.stat(path, follow_symlinks=False).st_size, keeping
    except FileNotFoundError:
        return None, keeping


def remove(files: Files, place: IndexFile) -> None:
    """Delete an index: it comes back from the log."""
    directory = files.open(os.path.dirname(place.path), os.O_RDONLY | os.O_DIRECTORY)
    with closing(files, directory):
        for suffix in ("", *_BESIDE):
            with suppress(FileNotFoundError):
                files.unlink(os.path.basename(place.path) + suffix, directory)


def wal_works(path: str, mounts: str) -> bool:
    """Whether the file system of `path` shares memory among processes, by its type in `mounts` (mountinfo)."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        place = fields.split(" ")[4].encode().decode("unicode_escape") if fields.count(" ") >= 4 else ""
        is_above = place == "/" or path == place or path.startswith(f"{place}/")
        if place and is_above and len(place) >= len(best):
            best, kind = place, rest.partition(" ")[0]
    return kind not in _NO_SHARED_MEMORY


@contextmanager
def mapped(what: str) -> Iterator[None]:
    """The one place where exceptions of sqlite3 enter."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _BROKEN or code == sqlite3.SQLITE_ERROR:
            raise IndexBroken(f"{what}: {error}") from error
        raise IndexFailed(_REASONS.get(code, "io"), f"{what}: {error}") from error


def _insist(connection: sqlite3.Connection, statement: str) -> None:
    """Try again for a while where others open the same file.

    SQLite waits by itself for most locks, but not for the one that a change of the journal needs.
    """
    for left in range(int(BUSY_SECONDS / _PAUSE_SECONDS), -1, -1):
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not left:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _name(tokenizer: str) -> str:
    return "index.sqlite" if tokenizer == "words" else f"index-{tokenizer}.sqlite"


def _refuse_link(files: Files, name: str, directory: int, place: str) -> None:
    try:
        status = files.lstat(name, parent=directory)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise StoreError("symlink", f"{place} is a symbolic link, and none is followed")


def _mounts() -> str:
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            return mounts.read()
    except OSError:
        return ""  # another system: local until SQLite says otherwise
