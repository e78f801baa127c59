"""One log's file: its tail, its fence, and what a write really put into it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from app.errors import StoreError
from app.store.files import Files
from app.store.log import Damage
from app.store.logfile import LogFile, Written
from app.store.scripted import ScriptedFiles

Lines = Callable[[Sequence[int]], bytes]
Open = Callable[..., LogFile]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """`opened(content, files)`: a log file with this content, not yet caught up with."""
    made: list[LogFile] = []

    def make(content: bytes = b"", files: Files | None = None) -> LogFile:
        (tmp_path / "f").write_bytes(content)
        descriptor = os.open(tmp_path / "f", os.O_RDWR | os.O_APPEND)
        made.append(LogFile(files or Files(), descriptor, "claims", "f"))
        return made[-1]

    yield make
    for log in made:
        log.close()


def test_lines_are_written_with_one_call_and_their_positions_known(opened: Open, tmp_path: Path) -> None:
    device = ScriptedFiles()
    log = opened(files=device)

    written = log.write([b"ab\n", b"c\n"])

    assert (written, device.calls["write"]) == (Written(0, b"ab\nc\n", [0, 3]), 1)
    assert (tmp_path / "f").read_bytes() == b"ab\nc\n"


def test_a_last_line_without_a_line_feed_is_fenced_in_the_same_write(opened: Open, lines: Lines) -> None:
    content = lines([1])[:-1]
    log = opened(content)
    log.catch_up(len(content))

    assert log.write([b"x\n"]) == Written(len(content), b"\nx\n", [len(content) + 1])
    assert (log.seq, log.ulid) == (1, 1)


@pytest.mark.parametrize(("taken", "positions"), [(0, []), (2, []), (3, [0]), (4, [0]), (5, [0, 3])])
def test_only_whole_lines_count_as_written(opened: Open, taken: int, positions: list[int]) -> None:
    log = opened(files=ScriptedFiles(write=[taken]))

    assert log.write([b"ab\n", b"c\n"]) == Written(0, b"ab\nc\n"[:taken], positions)


def test_a_piece_is_found_again_before_the_next_write(opened: Open, lines: Lines, tmp_path: Path) -> None:
    log = opened(files=ScriptedFiles(write=[len(lines([1])) + 3]))
    log.write([lines([1]), lines([2])])
    size = (tmp_path / "f").stat().st_size

    damage = log.catch_up(size)

    assert (damage, log.seq) == (Damage("f", size - 3, 3, "torn"), 1)
    assert log.catch_up(size) is None


def test_the_size_is_asked_only_where_it_is_not_known(opened: Open, tmp_path: Path) -> None:
    log = opened(b"ab\n", ScriptedFiles(write=[None, 2]))
    log.catch_up(3)
    sizes = [log.size()]
    log.write([b"cd\n"])
    with (tmp_path / "f").open("ab") as file:
        file.write(b"others\n")
    sizes.append(log.size())
    log.write([b"ef\n"])

    assert ([*sizes, log.size()], log.end) == ([3, 6, 15], -1)


def test_a_file_that_shrinks_while_it_is_read_is_an_error(opened: Open) -> None:
    with pytest.raises(StoreError) as failure:
        opened(b"x\n").catch_up(5000)

    assert failure.value.reason == "io"


@pytest.mark.parametrize(("free", "reason"), [(9, "no_space"), (10, "io")])
def test_a_short_write_is_explained_by_the_free_space(opened: Open, free: int, reason: str) -> None:
    assert opened(files=ScriptedFiles(free_bytes=[free])).shortfall(10).reason == reason


def test_a_file_knows_itself(opened: Open, tmp_path: Path) -> None:
    log = opened()
    (tmp_path / "other").touch()

    assert log.is_at((tmp_path / "f").stat())
    assert not log.is_at((tmp_path / "other").stat())
