"""One log as it grows, and as another file takes its place."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.errors import StoreError
from app.records.codec import Future, Record
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.follow import Followed
from app.store.scripted import ScriptedFiles

Follow = Callable[..., Followed]


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    """`follow(files)`: the claims of project `p` in the test's directory."""
    made: list[Followed] = []

    def make(files: Files | None = None) -> Followed:
        device = files or Files()
        made.append(Followed(DataDirectory(str(tmp_path), device), device, "p", "claims"))
        return made[-1]

    yield make
    for log in made:
        log.close()


def test_a_log_that_does_not_exist_is_empty(follow: Follow) -> None:
    log = follow()

    assert (log.size(), log.generation, log.read_at(9, 0)) == (0, 0, b"")
    assert log.record(0, 9) is None


def test_a_log_that_grows_stays_the_same(follow: Follow, place: Callable[..., Path]) -> None:
    path = place(b"ab", "claims")
    log = follow()
    sizes = [log.size()]

    with path.open("ab") as file:
        file.write(b"cd")

    assert ([*sizes, log.size()], log.generation) == ([2, 4], 1)
    assert (log.read_at(3, 1), log.read_at(9, 3), log.read_at(9, 4)) == (b"bcd", b"d", b"")


def test_another_file_at_the_path_is_another_generation(follow: Follow, place: Callable[..., Path]) -> None:
    path = place(b"old", "claims")
    log = follow()
    log.size()

    path.rename(path.with_name("kept"))
    path.write_bytes(b"newer")

    assert (log.size(), log.generation, log.read_at(5, 0)) == (5, 2, b"newer")


def test_a_removed_log_is_empty_until_one_is_there_again(follow: Follow, place: Callable[..., Path]) -> None:
    path = place(b"old", "claims")
    log = follow()
    log.size()

    path.unlink()
    gone = (log.size(), log.read_at(3, 0))
    path.write_bytes(b"again")

    assert (gone, log.size(), log.read_at(5, 0)) == ((0, b""), 5, b"again")


def test_a_line_is_read_at_its_place_and_nowhere_else(
    follow: Follow, place: Callable[..., Path], claim: Callable[..., bytes]
) -> None:
    later = b'{"v":2,"seq":2,"type":"asserted"}\n'
    place(claim(1) + later, "claims")
    log = follow()
    log.size()

    length = len(claim(1)) - 1
    found = [log.record(0, length), log.record(length + 1, len(later) - 1), log.record(1, length)]

    assert [type(one) for one in found] == [Record, Future, type(None)]


def test_a_symbolic_link_is_not_followed(follow: Follow, place: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"x")
    place(None, "claims").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as failure:
        follow().size()

    assert failure.value.reason == "symlink"


class Unseen(Files):
    """A device that says nothing about files."""

    def lstat(self, path: str, *, parent: int | None = None) -> os.stat_result:
        raise OSError(errno.EACCES, "not yours")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        pytest.param(Unseen(), "permission", id="not seen"),
        pytest.param(ScriptedFiles(open=[OSError(errno.EIO, "broken")]), "io", id="not opened"),
        pytest.param(ScriptedFiles(pread=[OSError(errno.EIO, "broken")]), "io", id="not read"),
    ],
)
def test_a_failing_device_is_a_typed_error(
    follow: Follow, place: Callable[..., Path], files: Files, reason: str
) -> None:
    place(b"x", "claims")
    log = follow(files)

    with pytest.raises(StoreError) as failure:
        log.read_at(log.size(), 0)

    assert failure.value.reason == reason


def test_a_log_that_vanishes_while_it_is_opened_is_empty(follow: Follow, place: Callable[..., Path]) -> None:
    place(b"x", "claims")
    files = ScriptedFiles(open=[None, None, None, None, FileNotFoundError()])

    assert (follow(files).size(), files.calls["open"]) == (0, 5)


def test_a_project_that_vanishes_while_it_is_opened_is_empty(
    follow: Follow, place: Callable[..., Path]
) -> None:
    place(b"x", "claims")

    assert follow(ScriptedFiles(open=[FileNotFoundError()])).size() == 0


def test_closing_lets_go_of_every_file(follow: Follow, place: Callable[..., Path]) -> None:
    path = place(b"old", "claims")
    before = set(os.listdir("/proc/self/fd"))
    log = follow()
    for name in ("one", "two"):
        log.size()
        path.rename(path.with_name(name))
        path.write_bytes(b"new")

    log.close()

    assert set(os.listdir("/proc/self/fd")) <= before
    assert log.read_at(3, 0) == b""
