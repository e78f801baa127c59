"""A project's kernel lock, freed by the kernel when its holder dies; the text inside is information only.

The text names the holder, and ranges of a log whose sync failed (see suspect.py). It is written only when another
server wrote it since, so that a lone server pays one short read an append.
"""

from __future__ import annotations

import os
from typing import Annotated, Final

import msgspec

from app.errors import StoreError
from app.store.files import Files

NOTES_KEPT: Final = 100

_TEXT_BYTES: Final = 64 * 1024
_WRITE_BYTES: Final = 0x7FFF_F000
"""More than that no write(2) takes, so no honest note is about more."""


class Suspect(msgspec.Struct, frozen=True):
    """Bytes whose sync failed: nobody knows whether they reached the device."""

    log: str
    offset: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    length: Annotated[int, msgspec.Meta(ge=0, le=_WRITE_BYTES)]
    sha256: str


class LockText(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the lock file says; whoever can write into the data directory may have written it."""

    pid: int = 0
    host: Annotated[str, msgspec.Meta(max_length=255)] = ""
    suspect: Annotated[tuple[Suspect, ...], msgspec.Meta(max_length=NOTES_KEPT)] = ()


class ProjectLock:
    """The lock of one open project; `path` is where its file must still be."""

    def __init__(self, files: Files, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path
        self._files = files
        self._ours = LockText(os.getpid(), os.uname().nodename)
        self._version = (0, -1)
        status = files.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)

    def try_acquire(self) -> bool:
        """Whether we hold the lock now; StoreError("locks_unavailable") where the file system has no locks."""
        try:
            self._files.lock(self.descriptor)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StoreError(
                "locks_unavailable",
                f"{self.path} cannot be locked ({error.strerror}); nothing is written without",
            ) from error
        return True

    def release(self) -> None:
        self._files.unlock(self.descriptor)

    def status_at_its_path(self) -> os.stat_result | None:
        """The status of the locked file, or None when other servers would find another one, or none."""
        try:
            status = self._files.lstat(self.path)
        except FileNotFoundError:
            return None
        return status if (status.st_dev, status.st_ino) == self._identity else None

    def inscribe(self, status: os.stat_result) -> None:
        """Say that it is we who hold the lock; notes of failed syncs are kept.

        Whether another server wrote the text since is seen by its time and size: a miss leaves an old name.
        """
        if (status.st_mtime_ns, status.st_size) == self._version:
            return
        text = self.text()
        if (text.pid, text.host) != (self._ours.pid, self._ours.host):
            self._write(text.suspect)
        status = self._files.fstat(self.descriptor)
        self._version = (status.st_mtime_ns, status.st_size)

    def text(self) -> LockText:
        return lock_text(self._files.pread(self.descriptor, _TEXT_BYTES, 0))

    def note(self, suspects: tuple[Suspect, ...]) -> None:
        """Replace the notes of failed syncs, durably; call it only while holding the lock."""
        self._write(suspects)
        self._files.fsync(self.descriptor)

    def _write(self, suspects: tuple[Suspect, ...]) -> None:
        text = msgspec.json.encode(LockText(self._ours.pid, self._ours.host, suspects)) + b"\n"
        self._files.pwrite(self.descriptor, text, 0)
        self._files.truncate(self.descriptor, len(text))


def lock_text(content: bytes) -> LockText:
    """What a lock file says; anything that is not such a text says nothing, and is no error."""
    try:
        return msgspec.json.decode(content, type=LockText)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return LockText()


def prove_exclusive(files: Files, second: int, path: str) -> None:
    """While the lock is held: a second descriptor must not get it, or locks are only pretended here."""
    try:
        files.lock(second)
    except BlockingIOError:
        return
    except OSError as error:
        raise StoreError("locks_unavailable", f"{path} cannot be locked: {error.strerror}") from error
    files.unlock(second)
    raise StoreError("locks_unavailable", f"two can lock {path} at once; nothing is written without locks")
