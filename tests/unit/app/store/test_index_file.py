"""The file of an index: where it lies, how SQLite is to keep it there, and what its errors mean."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import StoreError
from app.store import index_file as module
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.index_file import IndexBroken, IndexFile, examine_index, index_file, mapped, remove, wal_works
from app.store.scripted import ScriptedFiles

MOUNTS = r"""
21 1 8:1 / / rw shared:1 - ext4 /dev/root rw
30 21 0:30 / /net rw - nfs4 server:/x rw
31 30 8:2 / /net/local rw - xfs /dev/sdb rw
32 21 0:32 / /a\040b rw master:2 shared:3 - fuse.grpcfuse grpcfuse rw
33 21 0:33 / /again rw - ext4 /dev/sdc rw
34 33 0:34 / /again rw - 9p share rw
nonsense
"""


def made(path: Path, files: Files | None = None, tokenizer: str = "words") -> IndexFile:
    device = files or Files()
    return index_file(DataDirectory(str(path), device), device, "p", tokenizer)


def test_the_file_is_made_and_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    place = made(tmp_path)
    with closing(place.connect()) as connection:
        connection.execute("CREATE TABLE t(x)")
        modes = {name.name: name.stat().st_mode & 0o777 for name in Path(place.path).parent.iterdir()}
    os.umask(before)

    assert place == IndexFile(str(tmp_path / "projects" / "p" / "index.sqlite"), "wal")
    assert modes == {"index.sqlite": 0o600, "index.sqlite-wal": 0o600, "index.sqlite-shm": 0o600}


def test_each_tokenizer_has_a_file_of_its_own(tmp_path: Path) -> None:
    assert Path(made(tmp_path, tokenizer="trigram").path).name == "index-trigram.sqlite"


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, suffix: str) -> None:
    directory = tmp_path / "projects" / "p"
    directory.mkdir(parents=True)
    (directory / f"index.sqlite{suffix}").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as failure:
        made(tmp_path)

    assert (failure.value.reason, (tmp_path / "elsewhere").exists()) == ("symlink", False)


def test_an_index_that_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    os.mkfifo(tmp_path / "projects" / "p" / "index.sqlite")

    with pytest.raises(StoreError) as failure:
        made(tmp_path)

    assert failure.value.reason == "io"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC], ids=errno.errorcode.get)
def test_where_nothing_can_be_written_the_index_is_in_memory(tmp_path: Path, number: int) -> None:
    assert made(tmp_path, ScriptedFiles(open=[OSError(number, "no")])) == IndexFile("", "memory")


def test_without_its_volume_the_index_is_in_memory(tmp_path: Path) -> None:
    files = Files()

    place = index_file(DataDirectory(str(tmp_path), files, "require"), files, "p", "words")

    assert place == IndexFile("", "memory")


@pytest.mark.parametrize(
    ("place", "journal", "synchronous"),
    [("wal", "wal", 1), ("rollback", "delete", 1), ("memory", "memory", 1)],
)
def test_sqlite_keeps_it_as_told(
    tmp_path: Path, place: module.Keeping, journal: str, synchronous: int
) -> None:
    with closing(IndexFile("" if place == "memory" else str(tmp_path / "f"), place).connect()) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "trusted_schema", "temp_store")
        ]

    assert found == [journal, synchronous, 0, 2]


def test_a_reading_connection_cannot_write(tmp_path: Path) -> None:
    place = made(tmp_path)
    with closing(place.connect()) as writer:
        writer.execute("CREATE TABLE t(x)")

        with (
            closing(place.connect(readonly=True)) as reader,
            pytest.raises(sqlite3.OperationalError, match="readonly"),
        ):
            reader.execute("INSERT INTO t VALUES(1)")


def test_an_index_is_examined_without_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    found = [examine_index(str(tmp_path), "p", "words")]
    (tmp_path / "projects" / "p" / "index.sqlite").write_bytes(b"12345")
    found.append(examine_index(str(tmp_path), "p", "words"))
    monkeypatch.setattr(module, "wal_works", lambda _path, _mounts: False)
    found.append(examine_index(str(tmp_path), "p", "trigram"))
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    found.append(examine_index(str(tmp_path), "p", "words"))

    assert found == [(None, "wal"), (5, "wal"), (None, "rollback"), (5, "memory")]
    assert [one.name for one in (tmp_path / "projects" / "p").iterdir()] == ["index.sqlite"]


def test_removing_takes_everything_beside_it_too(tmp_path: Path) -> None:
    place = made(tmp_path)
    for suffix in ("-wal", "-shm", "-journal"):
        Path(place.path + suffix).touch()

    remove(Files(), place)
    remove(Files(), place)

    assert list(Path(place.path).parent.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "works"),
    [
        ("/home/x/index.sqlite", True),
        ("/net/data/index.sqlite", False),
        ("/network/index.sqlite", True),
        ("/net/local/index.sqlite", True),
        ("/a b/index.sqlite", False),
        ("/again/index.sqlite", False),
    ],
)
def test_the_file_system_decides_whether_memory_is_shared(path: str, *, works: bool) -> None:
    assert wal_works(path, MOUNTS) is works


def test_where_nothing_is_known_of_mounts_a_file_system_is_local() -> None:
    assert wal_works("/x", "")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (sqlite3.SQLITE_FULL, "no_space"),
        (sqlite3.SQLITE_READONLY, "read_only"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_BUSY | 2 << 8, "locked"),
        (sqlite3.SQLITE_CANTOPEN, "permission"),
        (sqlite3.SQLITE_IOERR, "io"),
    ],
)
def test_an_error_of_sqlite_is_a_typed_one(code: int, reason: str) -> None:
    error = sqlite3.OperationalError("why")
    error.sqlite_errorcode = code

    with pytest.raises(StoreError, match="f: why") as failure, mapped("f"):
        raise error

    assert failure.value.reason == reason


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, None])
def test_an_index_that_makes_no_sense_is_broken(code: int | None) -> None:
    error = sqlite3.DatabaseError("why")
    if code is not None:
        error.sqlite_errorcode = code

    with pytest.raises(IndexBroken, match="f: why"), mapped("f"):
        raise error


def test_a_system_without_a_list_of_mounts_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_arguments: object, **_options: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(module, "open", missing, raising=False)

    assert made(tmp_path).keeping == "wal"


def test_an_index_that_another_is_opening_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = made(tmp_path)
    other = sqlite3.connect(place.path, isolation_level=None)
    other.executescript("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
    reading = other.execute(
        "SELECT x FROM t"
    )  # no journal can be changed now, and SQLite does not wait by itself
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        reading.close()

    monkeypatch.setattr("time.sleep", pause)
    with closing(place.connect()) as connection:
        (kept,) = connection.execute("PRAGMA journal_mode").fetchone()
        (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    other.close()

    assert (kept, len(pauses), patience) == ("wal", 1, 1000)


def test_an_index_that_stays_locked_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = made(tmp_path)
    other = sqlite3.connect(place.path, isolation_level=None)
    other.executescript("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
    reading = other.execute("SELECT x FROM t")
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)

    with pytest.raises(StoreError) as failure:
        place.connect()
    reading.close()
    other.close()

    assert (failure.value.reason, len(pauses)) == ("locked", 200)


def test_many_who_open_a_new_index_at_once_all_get_it(tmp_path: Path) -> None:
    failed: list[BaseException] = []
    for number in range(10):
        place = made(tmp_path / str(number))
        together = threading.Barrier(8)

        def work(place: IndexFile = place, together: threading.Barrier = together) -> None:
            together.wait()
            try:
                place.connect().close()
            except StoreError as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert failed == []
