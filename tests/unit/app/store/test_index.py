"""The index of a project: it follows its log, survives whatever happens to its file, and says what it lacks."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import StoreError
from app.records.claims import Search, Term
from app.records.codec import Record
from app.store import index as module
from app.store import index_file, index_fill
from app.store.files import Files
from app.store.index import ClaimIndex, State
from app.store.index_search import matched
from app.store.log import Damage

Claim = Callable[..., bytes]
Numbers = Callable[..., list[int]]
Open = Callable[..., ClaimIndex]
Place = Callable[..., Path]


def file_of(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "p" / "index.sqlite"


def count(index: ClaimIndex) -> int:
    """How many claims the index holds, without catching up."""
    return index.read(lambda connection: matched(connection, Search()))[0]


def test_an_index_without_a_log_is_current_and_empty_and_makes_no_file(
    open_index: Open, tmp_path: Path
) -> None:
    index = open_index()

    assert (index.catch_up(), index.is_empty(), index.is_ready()) == (State(0, 0), True, True)
    assert list(tmp_path.iterdir()) == []


def test_claims_are_found_as_soon_as_they_are_in_the_log(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    index = open_index()
    place(claim(1), "claims")
    found = [numbers(index)]
    place(claim(1) + claim(2), "claims")

    assert [*found, numbers(index)] == [[1], [2, 1]]


def test_a_restart_goes_on_where_the_index_is(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, tmp_path: Path
) -> None:
    place(claim(1), "claims")
    first = open_index()
    numbers(first)
    first.close()
    with closing(sqlite3.connect(file_of(tmp_path))) as connection:
        connection.execute("UPDATE claims SET basis_us = 42")
        connection.commit()
    place(claim(1) + claim(2), "claims")

    assert numbers(open_index(), basis_until=43) == [1]


def test_an_index_that_is_current_is_not_looked_into_again(
    open_index: Open, place: Place, claim: Claim
) -> None:
    place(claim(1), "claims")
    index = open_index()
    ready = [index.is_ready()]
    state = index.catch_up()
    ready.append(index.is_ready())

    with closing(sqlite3.connect(file_of(Path(place()).parents[3]))) as other:
        other.execute("BEGIN IMMEDIATE")

        assert (index.catch_up(), ready) == (state, [False, True])


@pytest.mark.parametrize("is_open", [True, False], ids=["while it is open", "while it is closed"])
@pytest.mark.parametrize("grown", [True, False], ids=["with news", "without news"])
def test_a_deleted_index_comes_back(
    open_index: Open,
    place: Place,
    claim: Claim,
    numbers: Numbers,
    tmp_path: Path,
    *,
    is_open: bool,
    grown: bool,
) -> None:
    place(claim(1) + claim(2), "claims")
    index = open_index()
    numbers(index)
    if not is_open:
        index.close()
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (file_of(tmp_path).parent / name).unlink(missing_ok=True)
    if grown:
        place(claim(1) + claim(2) + claim(3), "claims")

    found = numbers(index if is_open else open_index(), wanted=(Term("claim"),))

    assert found == ([3, 2, 1] if grown else [2, 1])
    assert file_of(tmp_path).exists()


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE meta(x)")
        connection.execute("CREATE VIEW claims AS SELECT 1")


def another(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sheep(x)")


def without(table: str) -> Callable[[Path], None]:
    def drop(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"DROP TABLE {table}")

    return drop


def half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)


HARMS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut in half": half,
    "cut to its head": lambda path: os.truncate(path, 100),
    "no database": lambda path: path.write_bytes(b"not a database, " * 1000),
    "a head and rubbish": garbled,
    "the database of somebody else": another,
    "tables of the same names": foreign,
    "without its text index": without("fts"),
    "without its claims": without("claims"),
    "without its events": without("events"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_an_index_that_was_harmed_is_made_anew(
    open_index: Open,
    place: Place,
    claim: Claim,
    numbers: Numbers,
    tmp_path: Path,
    harm: Callable[[Path], object],
) -> None:
    place(b"".join(claim(n, f"claim number {n}") for n in range(1, 200)), "claims")
    first = open_index()
    numbers(first)
    first.close()
    harm(file_of(tmp_path))
    place(b"".join(claim(n, f"claim number {n}") for n in range(1, 202)), "claims")

    index = open_index()

    assert numbers(index, wanted=(Term("claim"),)) == list(range(201, 0, -1))
    assert numbers(index, order="oldest") == list(range(1, 202))


@pytest.mark.parametrize("table", ["fts", "claims"])
def test_an_index_that_breaks_while_it_is_read_is_made_anew(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, tmp_path: Path, table: str
) -> None:
    place(claim(1) + claim(2), "claims")
    index = open_index()
    numbers(index)
    without(table)(file_of(tmp_path))

    with pytest.raises(StoreError):
        index.read(lambda connection: connection.execute("SELECT * FROM nothing"))

    assert numbers(index, wanted=(Term("claim"),)) == [2, 1]


def test_a_question_that_is_no_sql_does_not_go_round_for_ever(open_index: Open) -> None:
    index = open_index()
    index.catch_up()

    with pytest.raises(StoreError, match="nothing") as failure:
        index.read(lambda connection: connection.execute("SELECT * FROM nothing"))

    assert failure.value.reason == "io"


@pytest.mark.parametrize(
    "made_with", [{"version": "2"}, {"tokenizer": "trigram"}], ids=["another version", "another tokenizer"]
)
def test_an_index_made_with_something_else_serves_nobody(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, made_with: dict[str, str]
) -> None:
    place(claim(1, "claims"), "claims")
    numbers(open_index())

    index = open_index(**made_with)

    assert numbers(index, wanted=(Term("laim"),)) == ([1] if "tokenizer" in made_with else [])
    assert numbers(index) == [1]


def test_a_log_replaced_while_the_index_is_open_is_indexed_anew(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    path = place(claim(1) + claim(2), "claims")
    index = open_index()
    numbers(index)
    path.unlink()
    place(claim(8) + claim(9), "claims")

    assert numbers(index) == [9, 8]


@pytest.mark.parametrize("left", [0, 1], ids=["to nothing", "to one claim"])
def test_a_log_that_was_cut_is_indexed_anew(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, left: int
) -> None:
    path = place(claim(1) + claim(2), "claims")
    index = open_index()
    numbers(index)

    os.truncate(path, left * len(claim(1)))

    assert numbers(index) == [1][:left]


def test_a_removed_log_has_no_claims(open_index: Open, place: Place, claim: Claim, numbers: Numbers) -> None:
    path = place(claim(1), "claims")
    index = open_index()
    numbers(index)
    path.unlink()

    assert numbers(index) == []


def test_a_torn_tail_is_found_when_it_is_whole(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    reported: list[Damage] = []
    index = open_index(report=reported.append)
    place(claim(1) + claim(2)[:40], "claims")
    early = numbers(index)
    place(claim(1) + claim(2), "claims")

    assert (early, numbers(index), reported) == ([1], [2, 1], [])


def test_two_indexes_fill_one_file(open_index: Open, place: Place, claim: Claim, numbers: Numbers) -> None:
    one, other = open_index(), open_index()
    content = b""
    for number in range(1, 7):
        content += claim(number)
        place(content, "claims")
        numbers(one if number % 2 else other)

    assert numbers(one, wanted=(Term("claim"),)) == [6, 5, 4, 3, 2, 1] == numbers(other)


def test_many_threads_fill_and_ask_at_once(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 7)
    path = place(b"", "claims")
    indexes = [open_index(), open_index()]
    found: list[list[int]] = []

    def work(number: int) -> None:
        for step in range(10):
            with path.open("ab") as file:
                file.write(claim(1 + step * 6 + number))
            found.append(numbers(indexes[number % 2], wanted=(Term("claim"),)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(numbers(indexes[0])) == list(range(1, 61)) == sorted(numbers(indexes[1]))
    assert all(len(set(each)) == len(each) for each in found)
    assert len(found) == 60


def test_a_deletion_between_two_who_share_it_harms_neither(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, tmp_path: Path
) -> None:
    place(claim(1), "claims")
    one, other = open_index(), open_index()
    numbers(one), numbers(other)
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (file_of(tmp_path).parent / name).unlink(missing_ok=True)
    place(claim(1) + claim(2), "claims")

    assert [numbers(one), numbers(other), numbers(one)] == [[2, 1]] * 3


def test_readers_are_given_back_and_only_some_are_kept(open_index: Open, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    index = open_index()
    index.catch_up()

    def nested(depth: int) -> int:
        return index.read(lambda _connection: nested(depth - 1)) if depth else count(index)

    assert nested(module.READERS_KEPT + 3) == 1
    assert len(index._readers) == module.READERS_KEPT


def test_a_caller_that_fails_leaves_no_reader_open(open_index: Open, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    index = open_index()
    index.catch_up()

    def fail(_connection: sqlite3.Connection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        index.read(fail)

    assert index._readers == []
    assert count(index) == 1


def test_where_memory_is_not_shared_the_index_has_a_rollback_journal(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "wal_works", lambda _path, _mounts: False)
    place(claim(1), "claims")
    one, other = open_index(), open_index()
    found = [numbers(one), numbers(other)]
    place(claim(1) + claim(2), "claims")

    assert [*found, numbers(other), numbers(one)] == [[1], [1], [2, 1], [2, 1]]
    assert one.keeping() == "rollback"


class Unwritable(Files):
    """A device that can be read and not written to."""

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return super().open(path, flags, mode, parent=parent)


def test_where_nothing_can_be_written_the_index_is_in_memory(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, tmp_path: Path
) -> None:
    place(claim(1), "claims")
    index = open_index(files=Unwritable())
    found = numbers(index)
    place(claim(1) + claim(2), "claims")

    assert [found, numbers(index, wanted=(Term("claim"),))] == [[1], [2, 1]]
    assert (index.keeping(), file_of(tmp_path).exists()) == ("memory", False)


def test_a_symbolic_link_in_the_place_of_the_index_is_refused(
    open_index: Open, place: Place, claim: Claim, tmp_path: Path
) -> None:
    place(claim(1), "claims")
    file_of(tmp_path).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as failure:
        open_index().catch_up()

    assert (failure.value.reason, (tmp_path / "elsewhere").exists()) == ("symlink", False)


class Watched:
    """What a build in the background told, and a brake on it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []
        self.go_on = threading.Event()
        self.begun = threading.Event()

    def progress(self, project: str, position: int, of: int) -> None:
        self.told.append((project, position, of))
        self.begun.set()
        self.go_on.wait(10)


def test_much_is_built_in_the_background_and_said_so(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 2)
    size = place(b"".join(map(claim, range(1, 6))), "claims").stat().st_size
    watched = Watched()
    index = open_index(progress=watched.progress)
    states = [index.catch_up(inline_bytes=100)]
    watched.begun.wait(10)

    states.append(index.catch_up())
    early = (count(index), index.is_ready())
    watched.go_on.set()
    index.wait(10)

    step = size // 5
    assert (states, early) == ([State(0, size), State(2 * step, size)], (2, False))
    assert watched.told == [("p", 2 * step, size), ("p", 4 * step, size), ("p", size, size)]
    assert (numbers(index), index.is_ready()) == ([5, 4, 3, 2, 1], True)


def test_a_build_in_the_background_sees_what_is_added_meanwhile(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 2)
    path = place(b"".join(map(claim, range(1, 6))), "claims")
    watched = Watched()
    index = open_index(progress=watched.progress)
    index.catch_up(inline_bytes=0)
    watched.begun.wait(10)
    with path.open("ab") as file:
        file.write(claim(6))
    watched.go_on.set()
    index.wait(10)

    assert (watched.told[-1][2], numbers(index)) == (path.stat().st_size, [6, 5, 4, 3, 2, 1])


@pytest.mark.parametrize(("more", "is_current"), [(0, True), (-1, False)], ids=["just enough", "too much"])
def test_what_is_caught_up_on_the_spot_has_a_limit(
    open_index: Open, place: Place, claim: Claim, more: int, *, is_current: bool
) -> None:
    size = place(claim(1), "claims").stat().st_size

    assert open_index().catch_up(inline_bytes=size + more).is_current is is_current


def test_closing_ends_a_build_with_its_batch(
    open_index: Open, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    place(b"".join(map(claim, range(1, 30))), "claims")
    watched = Watched()
    index = open_index(progress=watched.progress)
    index.catch_up(inline_bytes=0)
    watched.begun.wait(10)
    closer = threading.Thread(target=index.close)
    closer.start()
    while not index._closed:
        pass
    watched.go_on.set()
    closer.join(10)

    assert (closer.is_alive(), len(watched.told)) == (False, 1)
    assert not index._is_building()


def test_a_build_that_fails_is_met_by_whoever_asks_next(open_index: Open, place: Place, claim: Claim) -> None:
    class Broken(Files):
        threads = "index-"

        def pread(self, descriptor: int, size: int, offset: int) -> bytes:
            if threading.current_thread().name.startswith(self.threads):
                raise OSError(5, "broken")
            return super().pread(descriptor, size, offset)

    size = place(claim(1), "claims").stat().st_size
    device = Broken()
    index = open_index(files=device)
    state = index.catch_up(inline_bytes=0)
    index.wait(10)
    device.threads = ""  # every thread

    with pytest.raises(StoreError, match="broken"):
        index.catch_up()
    device.threads = "none"

    assert (state, index.catch_up()) == (State(0, size), State(size, size))


def test_an_index_that_is_being_built_can_be_asked_from_the_beginning(
    open_index: Open, place: Place, claim: Claim
) -> None:
    class Slow(Files):
        go_on = threading.Event()

        def pread(self, descriptor: int, size: int, offset: int) -> bytes:
            if threading.current_thread().name.startswith("index-"):
                self.go_on.wait(10)
            return super().pread(descriptor, size, offset)

    place(claim(1), "claims")
    device = Slow()
    index = open_index(files=device)
    index.catch_up(inline_bytes=0)

    early = (count(index), index.catch_up().is_current)
    device.go_on.set()
    index.wait(10)

    assert (early, index.catch_up().is_current, count(index)) == ((0, False), True, 1)


def test_an_index_at_work_in_another_process_is_waited_for_and_then_asked_as_it_is(
    open_index: Open, place: Place, claim: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_SECONDS", 0.05)
    place(claim(1), "claims")
    index = open_index()
    index.catch_up()
    place(claim(1) + claim(2), "claims")
    with closing(sqlite3.connect(file_of(tmp_path))) as other:
        other.execute("BEGIN IMMEDIATE")
        behind, found = index.catch_up(), count(index)

    size = len(claim(1) + claim(2))
    assert (behind, found) == (State(len(claim(1)), size), 1)
    assert (index.catch_up(), count(index)) == (State(size, size), 2)


def test_an_index_for_which_there_is_no_room_is_kept_in_memory(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    place(claim(1), "claims")
    index = open_index()
    index.catch_up()
    assert index._writer is not None
    (pages,) = index._writer.execute("PRAGMA page_count").fetchone()
    index._writer.execute(f"PRAGMA max_page_count={pages}")  # as if the device had no more
    place(claim(1) + b"".join(claim(number, f"claim {number}") for number in range(2, 2000)), "claims")

    index.catch_up()
    assert (count(index), index.keeping()) == (1999, "memory")
    assert numbers(index, wanted=(Term("1998"),)) == [1998]


def test_the_pieces_that_an_ended_build_left_are_brought_together_later(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_fill, "BATCH_LINES", 1)
    content = b"".join(map(claim, range(1, 40)))
    place(content, "claims")
    watched = Watched()
    first = open_index(progress=watched.progress)
    first.catch_up(inline_bytes=0)
    watched.go_on.set()
    while not first.catch_up().is_current:
        pass
    first.close()
    index = open_index()
    index.read(lambda connection: connection.execute("INSERT OR REPLACE INTO meta VALUES('unmerged', 1)"))

    index.catch_up()
    place(content + claim(40), "claims")
    found = numbers(index)
    index.wait(10)

    assert found == list(range(40, 0, -1))
    assert not index.read(index_fill.is_unmerged)


def test_a_line_is_read_from_the_log(open_index: Open, place: Place, claim: Claim) -> None:
    place(claim(1) + claim(2), "claims")
    index = open_index()
    index.catch_up()

    found = index.record(len(claim(1)), len(claim(2)) - 1)

    assert isinstance(found, Record)
    assert (found.seq, index.record(1, 9)) == (2, None)


def test_closing_lets_go_of_every_file(
    open_index: Open, place: Place, claim: Claim, numbers: Numbers
) -> None:
    place(claim(1), "claims")
    before = set(os.listdir("/proc/self/fd"))
    index = open_index()
    numbers(index)

    index.close()

    assert set(os.listdir("/proc/self/fd")) <= before


def test_the_promised_numbers_are_these() -> None:
    assert (module.INLINE_BYTES, index_fill.BATCH_LINES, index_file.BUSY_SECONDS) == (4 << 20, 10_000, 1.0)
