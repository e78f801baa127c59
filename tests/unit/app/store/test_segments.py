"""The files of one log as one run of bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import StoreError
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.segments import Segment, Segments, open_segments

Place = Callable[..., Path]
FILE = "projects/p/logs/claims.jsonl"


def opened(path: Path) -> Segments | None:
    return open_segments(DataDirectory(str(path), Files()), Files(), "p", "claims")


@pytest.mark.parametrize("there", [None, "documents"], ids=["no project", "another log"])
def test_a_log_without_a_file_has_no_segments(tmp_path: Path, place: Place, there: str | None) -> None:
    if there:
        place(b"x\n", there)

    assert opened(tmp_path) is None


def test_a_log_of_one_file_is_that_file(tmp_path: Path, place: Place) -> None:
    place(b"abcdef", "claims")
    log = opened(tmp_path)

    assert log is not None
    assert (log.end, log.read_at(3, 0), log.read_at(9, 4), log.read_at(9, 6)) == (6, b"abc", b"ef", b"")
    assert log.place(4) == (FILE, 4)
    log.close()


def test_a_log_is_as_it_was_when_it_was_opened(tmp_path: Path, place: Place) -> None:
    path = place(b"abc", "claims")
    log = opened(tmp_path)
    with path.open("ab") as file:
        file.write(b"def")

    assert log is not None
    assert (log.end, log.read_at(9, 0)) == (3, b"abc")
    log.close()


def test_several_files_are_one_run(tmp_path: Path) -> None:
    segments, start = [], 0
    for name, content in (("a", b"abc"), ("b", b""), ("c", b"de")):
        (tmp_path / name).write_bytes(content)
        descriptor = os.open(tmp_path / name, os.O_RDONLY)
        segments.append(Segment(name, descriptor, start, len(content)))
        start += len(content)
    log = Segments(Files(), tuple(segments))

    assert (log.end, [log.read_at(9, offset) for offset in range(6)]) == (
        5,
        [b"abc", b"bc", b"c", b"de", b"e", b""],
    )
    assert [log.place(offset) for offset in (0, 2, 3, 4)] == [("a", 0), ("a", 2), ("c", 0), ("c", 1)]
    log.close()


def test_where_a_file_was_taken_away_nothing_is_read(tmp_path: Path) -> None:
    segments = []
    for name, start in (("a", 3), ("c", 9)):
        (tmp_path / name).write_bytes(b"abc")
        segments.append(Segment(name, os.open(tmp_path / name, os.O_RDONLY), start, 3))
    log = Segments(Files(), tuple(segments))

    assert [log.read_at(2, offset) for offset in (0, 2, 3, 5, 6, 8, 9, 12)] == [
        b"",
        b"",
        b"ab",
        b"c",
        b"",
        b"",
        b"ab",
        b"",
    ]
    log.close()


def test_a_range_over_the_border_of_files_is_read_whole(tmp_path: Path) -> None:
    segments = []
    for name, start in (("a", 0), ("b", 3)):
        (tmp_path / name).write_bytes(b"abc")
        segments.append(Segment(name, os.open(tmp_path / name, os.O_RDONLY), start, 3))
    log = Segments(Files(), tuple(segments))

    assert (log.read_exactly(4, 1), log.read_exactly(9, 2)) == (b"bcab", b"cabc")
    log.close()


def test_a_symbolic_link_is_not_followed(tmp_path: Path, place: Place) -> None:
    (tmp_path / "elsewhere").write_bytes(b"x")
    place(None, "claims").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as failure:
        opened(tmp_path)

    assert failure.value.reason == "symlink"
