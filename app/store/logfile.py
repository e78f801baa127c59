"""One open log of one project: its true tail, and lines written behind it with one write(2).

All of this happens while the project's lock is held, except `sync`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.errors import StoreError
from app.store.files import Files, read_exactly
from app.store.log import Damage, LogName
from app.store.tail import BLOCK_BYTES, read_tail


class Written(NamedTuple):
    """What one write(2) put into the file: where it begins, the bytes, and where each whole line begins."""

    offset: int
    data: bytes
    positions: list[int]


class Sealed(NamedTuple):
    """What the file that is appended to goes on from: where it begins in its log, and the last line before it."""

    end: int = 0
    seq: int = 0
    ulid: int | None = None


class LogFile:
    """`seq` and `ulid` are those of the last line that carries them; 0 and None when there is none.

    Positions that are given out are those of the log, in which sealed files come first.
    """

    def __init__(
        self, files: Files, descriptor: int, name: LogName, file: str, sealed: Sealed | None = None
    ) -> None:
        self.descriptor = descriptor
        self.name = name
        self.file = file
        self.sealed = sealed or Sealed()
        self.seq = self.sealed.seq
        self.ulid = self.sealed.ulid
        self._files = files
        self._end = 0
        self._line_start = 0
        status = files.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)

    @property
    def end(self) -> int:
        """Where the next line goes; below 0 after a write of ours that failed, until `catch_up`."""
        return self._end

    def size(self) -> int:
        """The size of the file now, asked only where it is not known."""
        return self._end if self._end >= 0 else self._files.fstat(self.descriptor).st_size

    def is_at(self, status: os.stat_result) -> bool:
        """Whether this is the file that `status` describes."""
        return (status.st_dev, status.st_ino) == self._identity

    def catch_up(self, size: int) -> Damage | None:
        """Read what was added since, by others or by a write of ours that failed; damage at the end, if any."""
        if size == self._end:
            return None
        if size < self._end:  # somebody cut the file: start over
            self.seq, self._line_start = self.sealed.seq, 0
        tail = read_tail(self._read_at, self._line_start, size)
        self._end, self._line_start = size, tail.line_start
        if tail.place is not None:
            self.seq, self.ulid = tail.place.seq, tail.place.ulid
        return Damage(self.file, *tail.damage) if tail.damage else None

    def write(self, lines: Sequence[bytes]) -> Written:
        """Put all lines behind the end with one write(2), fenced by an LF from a last line that has none.

        When the device takes fewer bytes, the rest is not written and the piece stays; `positions` has only the
        lines that are whole. The next `catch_up` reads what really stands there.
        """
        fence = b"" if self._line_start == self._end else b"\n"
        data = fence + b"".join(lines)
        offset = self._end
        count = self._files.write(self.descriptor, data)
        positions = []
        position, limit = offset + len(fence), offset + count
        for line in lines:
            if position + len(line) > limit:
                break
            positions.append(self.sealed.end + position)
            position += len(line)
        if count == len(data):
            self._end = self._line_start = limit
        else:
            self._end = -1  # unlike any size: read again before the next write
        return Written(offset, data[:count], positions)

    def end_line(self) -> None:
        """Put the LF behind a last line that has none, so that the file can be sealed."""
        if self._line_start != self._end:
            if self._files.write(self.descriptor, b"\n") < 1:
                raise self.shortfall(1)
            self._end = self._line_start = self._end + 1

    def shortfall(self, missing: int) -> StoreError:
        """Why a write was short: the device has no room for the `missing` bytes, or did not say."""
        if self._files.free_bytes(self.descriptor) < missing:
            return StoreError("no_space", f"{self.file}: the device is full")
        return StoreError("io", f"{self.file}: the device took only a part of the line")

    def read_range(self, offset: int, length: int) -> Iterator[bytes]:
        """Bytes of the file as the device has them, as far as the system lets us ask it, in blocks.

        None where the range is not wholly within the file.
        """
        end = offset + length
        if end > self._files.fstat(self.descriptor).st_size:
            return
        self._files.forget(self.descriptor)
        for position in range(offset, end, BLOCK_BYTES):
            yield read_exactly(self._files, self.descriptor, min(BLOCK_BYTES, end - position), position)

    def sync(self) -> None:
        """Make durable what was written; needs no lock."""
        self._files.fdatasync(self.descriptor)

    def close(self) -> None:
        self._files.close(self.descriptor)

    def _read_at(self, size: int, offset: int) -> bytes:
        data = read_exactly(self._files, self.descriptor, size, offset)
        if len(data) < size:
            raise StoreError("io", f"{self.file} became shorter while it was read")
        return data
