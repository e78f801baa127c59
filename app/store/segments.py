"""The files of one log as one run of bytes: sealed ones first, in their order, then the one that is appended to.

A sealed file is named after the position of its first byte in the run, so that names sort and say where they belong.
"""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

from app.store.directory import DataDirectory, closing, open_file
from app.store.files import Files
from app.store.log import LogName

_READ: Final = os.O_RDONLY


class Segment(NamedTuple):
    """One file: `file` is relative to the data directory, `start` where its first byte stands in the run."""

    file: str
    descriptor: int
    start: int
    size: int


class Segments:
    """A log as it was when it was opened; positions are those of the run, whatever file they are in."""

    def __init__(self, files: Files, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self._files = files

    @property
    def end(self) -> int:
        """The number of bytes of the run."""
        last = self.segments[-1]
        return last.start + last.size

    def read_at(self, size: int, offset: int) -> bytes:
        """At most `size` bytes at `offset`, as far as one file goes; none at the end."""
        segment = self._segment(offset)
        room = segment.start + segment.size - offset
        if room <= 0 or offset < segment.start:  # the end, or where a file was taken away
            return b""
        return self._files.pread(segment.descriptor, min(size, room), offset - segment.start)

    def read_exactly(self, size: int, offset: int) -> bytes:
        """`size` bytes at `offset`, over the borders of files; fewer only where the run ends."""
        data = b""
        while len(data) < size and (more := self.read_at(size - len(data), offset + len(data))):
            data += more
        return data

    def place(self, offset: int) -> tuple[str, int]:
        """The file in which this position lies, and the offset there."""
        segment = self._segment(offset)
        return segment.file, offset - segment.start

    def close(self) -> None:
        """Let go of the files."""
        for segment in self.segments:
            self._files.close(segment.descriptor)

    def _segment(self, offset: int) -> Segment:
        return next((each for each in reversed(self.segments) if offset >= each.start), self.segments[0])


def open_segments(root: DataDirectory, files: Files, project: str, log: LogName) -> Segments | None:
    """The log to read, without its lock; None where it has no file yet. Raises OSError and StoreError.

    The file that is appended to is opened first: if it is sealed meanwhile it is found again under its new name.
    """
    directory = root.found("projects", project, "logs")
    if directory is None:
        return None
    active: Segment | None = None
    opened: list[Segment] = []
    with closing(files, directory):
        try:
            active = _open(root, files, directory, project, f"{log}.jsonl", 0)
            for start, name in sealed_names(files, directory, log):
                opened.append(_opened(root, files, directory, project, name, start))
        except BaseException:
            for each in [*opened, active] if active else opened:
                files.close(each.descriptor)
            raise
    if active is not None:
        if any(_same(files, active, each) for each in opened):
            files.close(active.descriptor)
        else:
            start = opened[-1].start + opened[-1].size if opened else 0
            opened.append(active._replace(start=start))
    return Segments(files, tuple(opened)) if opened else None


def sealed_names(files: Files, directory: int, log: LogName) -> list[tuple[int, str]]:
    """The sealed files of a log in this directory, each with the position at which it begins, in order."""
    pattern = re.compile(rf"{log}-([0-9]{{20}})\.jsonl")
    matched = [pattern.fullmatch(name) for name in files.names(directory)]
    return sorted((int(each[1]), each[0]) for each in matched if each)


def sealed_name(log: LogName, start: int) -> str:
    """The name of a sealed file that begins at this position."""
    return f"{log}-{start:020d}.jsonl"


def _open(
    root: DataDirectory, files: Files, directory: int, project: str, name: str, start: int
) -> Segment | None:
    try:
        return _opened(root, files, directory, project, name, start)
    except FileNotFoundError:
        return None


def _opened(
    root: DataDirectory, files: Files, directory: int, project: str, name: str, start: int
) -> Segment:
    file = os.path.join("projects", project, "logs", name)
    descriptor = open_file(files, name, _READ, directory, root.place(file))
    return Segment(file, descriptor, start, files.fstat(descriptor).st_size)


def _same(files: Files, one: Segment, other: Segment) -> bool:
    first, second = files.fstat(one.descriptor), files.fstat(other.descriptor)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
