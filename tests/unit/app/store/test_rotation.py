"""Sealing: a file that has grown to its limit gets another name, and nothing else about the log changes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.proofs.note import SigningKey
from app.records.codec import Record, storable
from app.records.ulid import ulid_value
from app.store.directory import DataDirectory
from app.store.examine import examine_log
from app.store.file import FileLog
from app.store.files import Files
from app.store.log import Damage, Line, LogName, Stored
from app.store.logfile import LogFile, Sealed
from app.store.pending import Pending
from app.store.project import Project
from app.store.rotation import read_sealed, seal
from app.store.scripted import ScriptedFiles
from app.store.verify import verify_project

Append = Callable[..., list[Any]]
Lines = Callable[[Sequence[int]], bytes]
Place = Callable[..., Path]
Open = Callable[..., FileLog]

ACTIVE = "observations.jsonl"
FIRST = "observations-00000000000000000000.jsonl"


@pytest.fixture
def open_log(tmp_path: Path) -> Iterator[Open]:
    """`open_log(rotate_bytes, files=)`: the log of the test's directory."""
    made: list[FileLog] = []

    def make(rotate_bytes: int = 0, files: Files | None = None) -> FileLog:
        log = FileLog(str(tmp_path), SystemClock(), files=files or Files(), rotate_bytes=rotate_bytes)
        made.append(log)
        return log

    yield make
    for log in made:
        log.close()


def records(log: FileLog, name: LogName = "observations") -> list[Record]:
    """All lines of project `p`; anything else is a failure."""
    found = list(log.read("p", name))
    assert all(isinstance(each, Line) and isinstance(each.record, Record) for each in found), found
    return [each.record for each in found if isinstance(each, Line) and isinstance(each.record, Record)]


def files_of(path: Path) -> list[str]:
    return sorted(each.name for each in (path / "projects" / "p" / "logs").glob("observations*"))


def run_on(path: Path, append: Append, *, expected: int) -> None:
    """What every log that was left behind has to do: read whole, count on, and give greater ids, in all logs."""
    log = FileLog(str(path), SystemClock(), rotate_bytes=1)
    before = records(log)
    assert [each.seq for each in before] == list(range(1, expected + 1))
    (claim,) = append(log, log_name="claims")
    stored = append(log, 1) + append(log, 1)
    log.close()

    after = records(log)
    assert after[:expected] == before
    assert [each.id for each in after[expected:]] == [each.id for each in stored]
    assert [each.seq for each in after] == list(range(1, expected + 3))
    ids = [each.id[2:] for each in [*before, claim, *stored]]
    assert ids == sorted(set(ids))


def test_a_file_that_has_reached_the_limit_is_sealed_before_the_next_append(
    open_log: Open, append: Append, tmp_path: Path, place: Place
) -> None:
    log = open_log(1)

    stored = append(log, 1) + append(log, 1) + append(log, 1)

    second = f"observations-{stored[1].position:020d}.jsonl"
    assert files_of(tmp_path) == sorted([FIRST, second, ACTIVE])
    assert [place().with_name(name).stat().st_mode & 0o777 for name in (FIRST, second, ACTIVE)] == [
        0o400,
        0o400,
        0o600,
    ]
    assert [each.seq for each in stored] == [1, 2, 3]


class Told(Files):
    """Keeps the order of what matters for durability."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def fdatasync(self, descriptor: int) -> None:
        self.steps.append("sync the file")
        super().fdatasync(descriptor)

    def fsync(self, descriptor: int) -> None:
        self.steps.append("sync")
        super().fsync(descriptor)

    def rename(self, name: str, new_name: str, parent: int) -> None:
        self.steps.append("rename")
        super().rename(name, new_name, parent)

    def chmod(self, descriptor: int, mode: int) -> None:
        self.steps.append(f"mode {mode:o}")
        super().chmod(descriptor, mode)


def test_what_is_sealed_is_durable_before_it_is_renamed_and_its_name_before_anything_follows(
    tmp_path: Path, place: Place, lines: Lines
) -> None:
    place(lines([1]))
    device = Told()
    log = LogFile(device, os.open(place(), os.O_RDWR | os.O_APPEND), "observations", ACTIVE)
    directory = os.open(place().parent, os.O_RDONLY)

    seal(device, directory, log)
    log.close()
    os.close(directory)

    assert device.steps == ["sync the file", "rename", "mode 400", "sync"]


def test_positions_are_those_of_the_whole_log(open_log: Open, append: Append) -> None:
    log = open_log(1)

    stored = [append(log, 2)[1] for _ in range(4)]

    for one in stored:
        line = next(iter(log.read("p", "observations", one.position)))
        assert isinstance(line, Line)
        assert (line.position, line.record.id) == (one.position, one.id)


def test_a_file_below_the_limit_is_not_sealed(open_log: Open, append: Append, tmp_path: Path) -> None:
    append(open_log(), 1)
    size = (tmp_path / "projects" / "p" / "logs" / ACTIVE).stat().st_size

    append(open_log(size + 1))
    below = files_of(tmp_path)
    append(open_log(2 * size))

    assert (below, files_of(tmp_path)) == ([ACTIVE], [FIRST, ACTIVE])


@pytest.mark.parametrize(("rotate_bytes", "log_name"), [(0, "observations"), (1, "claims"), (1, "documents")])
def test_without_a_limit_and_for_other_logs_nothing_is_sealed(
    open_log: Open, append: Append, place: Place, rotate_bytes: int, log_name: LogName
) -> None:
    log = open_log(rotate_bytes)

    for _ in range(3):
        append(log, log_name=log_name)

    assert [each.name for each in place().parent.iterdir()] == [f"{log_name}.jsonl"]


@pytest.mark.parametrize("left", [None, b""], ids=["missing", "empty"])
def test_a_log_with_sealed_files_alone_reads_and_goes_on(
    open_log: Open, append: Append, tmp_path: Path, place: Place, left: bytes | None
) -> None:
    log = open_log()
    append(log, 3)
    log.close()
    place().rename(place().with_name(FIRST))
    place(left)

    run_on(tmp_path, append, expected=3)


@pytest.mark.parametrize("left", [None, b"", b"rubbish\n"], ids=["missing", "empty", "rubbish"])
def test_ids_of_a_sealed_file_are_not_given_again_when_the_clock_goes_back(
    append: Append, tmp_path: Path, place: Place, lines: Lines, left: bytes | None
) -> None:
    far = (1 << 127) + 5
    place(lines([1, far])).rename(place().with_name(FIRST))
    place(left)
    log = FileLog(str(tmp_path), SystemClock())

    (claim,) = append(log, log_name="claims")
    log.close()

    assert ulid_value(claim.id[2:]) == far + 1


def test_a_file_that_another_server_sealed_before_it_died_still_counts_for_ids(
    open_log: Open, append: Append, place: Place, lines: Lines
) -> None:
    log = open_log()
    append(log)
    with place().open("ab") as file:
        file.write(lines([1 << 127]))
    place().rename(place().with_name(FIRST))

    (claim,) = append(log, log_name="claims")

    assert ulid_value(claim.id[2:]) == (1 << 127) + 1


def test_a_torn_end_is_fenced_before_the_file_is_sealed(
    open_log: Open, append: Append, place: Place, lines: Lines
) -> None:
    place(lines([1]) + b'{"v":1,"torn')
    log = open_log(1)

    (stored,) = append(log)

    found = list(log.read("p", "observations"))
    assert found[1] == Damage(f"projects/p/logs/{FIRST}", len(lines([1])), 12, "not_json")
    assert [each.record.seq for each in found if isinstance(each, Line)] == [1, 2]
    assert stored.position == place().with_name(FIRST).stat().st_size
    assert place().with_name(FIRST).read_bytes().endswith(b"torn\n")


def test_a_sealed_file_without_any_number_is_passed_over(
    open_log: Open, append: Append, place: Place, lines: Lines
) -> None:
    begin = len(lines([1, 2]))
    place(lines([1, 2])).rename(place().with_name(FIRST))
    place(b"rubbish\n").rename(place().with_name(f"observations-{begin:020d}.jsonl"))

    (stored,) = append(open_log())

    assert (stored.seq, stored.position) == (3, begin + 8)


def test_sealed_files_without_any_number_say_only_where_they_end(place: Place, tmp_path: Path) -> None:
    place(b"rubbish\n").rename(place().with_name(FIRST))
    directory = os.open(place().parent, os.O_RDONLY)

    sealed = read_sealed(Files(), directory, "observations", "place")
    os.close(directory)

    assert sealed == Sealed(8, 0, None)


def test_strangers_beside_the_log_are_ignored(open_log: Open, append: Append, place: Place) -> None:
    log = open_log(1)
    append(log)
    for name in (
        "observations-1.jsonl",
        "observations-old.jsonl",
        f"x{FIRST}",
        f"{FIRST}.gz",
        f"claims{FIRST[12:]}",
    ):
        place().with_name(name).write_bytes(b"stranger\n")

    append(log)

    assert [each.seq for each in records(log)] == [1, 2]


def test_a_sealed_file_that_is_a_link_is_not_followed(
    open_log: Open, append: Append, place: Place, tmp_path: Path
) -> None:
    place(b"").with_name(FIRST).symlink_to(tmp_path / "elsewhere")
    log = open_log()

    (refused,) = append(log)
    with pytest.raises(StoreError) as failure:
        list(log.read("p", "observations"))

    assert (refused.reason, failure.value.reason) == ("symlink", "symlink")


def test_a_name_that_is_taken_is_not_taken_over(
    open_log: Open, append: Append, place: Place, lines: Lines
) -> None:
    class Hidden(Files):
        """The first looks do not show the sealed file."""

        looks = 0

        def names(self, directory: int) -> list[str]:
            self.looks += 1
            return super().names(directory) if self.looks > 1 else []

    place(lines([1])).rename(place().with_name(FIRST))
    place(lines([2]))
    log = open_log(1, Hidden())

    (refused,) = append(log)

    assert isinstance(refused, StoreError)
    assert "is there already" in str(refused)
    assert place().with_name(FIRST).read_bytes() == lines([1])
    assert place().read_bytes() == lines([2])


def test_other_servers_follow_a_rotation(open_log: Open, append: Append) -> None:
    one, other = open_log(1), open_log()

    stored = [append(log)[0] for log in (one, other, one, other, other, one)]

    assert [each.seq for each in stored] == [1, 2, 3, 4, 5, 6]
    assert [each.id for each in records(other)] == [each.id for each in stored]
    assert [each.position for each in other.read("p", "observations") if isinstance(each, Line)] == [
        each.position for each in stored
    ]


def test_doctor_counts_all_files(open_log: Open, append: Append) -> None:
    log = open_log(1)
    for _ in range(3):
        append(log, 2)

    state = examine_log(log, "p", "observations")

    assert (state.records, state.damaged, state.last_seq) == (6, 0, 6)


def test_a_file_with_a_range_to_be_examined_is_not_sealed(
    open_log: Open, append: Append, tmp_path: Path
) -> None:
    running = open_log(1)
    append(running)
    append(open_log(0, ScriptedFiles(fdatasync=[OSError(5, "broken")])))

    append(running)
    meanwhile = files_of(tmp_path)
    append(open_log(1))

    assert (meanwhile, files_of(tmp_path)) == ([ACTIVE], [FIRST, ACTIVE])


class Died(BaseException):
    """The process is gone."""


class Failing(Files):
    """Raises `error` at the call number `at` that changes anything, counted from `arm` on; `place` is watched."""

    def __init__(self, place: Path, at: int, error: BaseException) -> None:
        self.left = -1
        self.place = place
        self._at = at
        self._error = error

    def arm(self) -> None:
        self.left = self._at

    def write(self, descriptor: int, data: bytes) -> int:
        self._step()
        return super().write(descriptor, data)

    def fdatasync(self, descriptor: int) -> None:
        self._step()
        super().fdatasync(descriptor)

    def fsync(self, descriptor: int) -> None:
        self._step()
        super().fsync(descriptor)

    def rename(self, name: str, new_name: str, parent: int) -> None:
        self._step()
        super().rename(name, new_name, parent)

    def chmod(self, descriptor: int, mode: int) -> None:
        self._step()
        super().chmod(descriptor, mode)

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        self._step()
        return super().open(path, flags, mode, parent=parent)

    def _step(self) -> None:
        if self.place.exists():  # the file at this path can be written to by its owner, at every moment
            assert self.place.stat().st_mode & 0o200
        self.left -= 1
        if self.left == -1:
            raise self._error


STEPS = range(24)
"""More than there are; a step that does not come changes nothing."""

CUT = pytest.mark.parametrize("cut", [0, 1], ids=["with a last LF", "without a last LF"])


def grown(place: Place, lines: Lines, cut: int) -> None:
    """Three lines, the last one perhaps without its LF."""
    content = lines([1, 2, 3])
    place(content[: len(content) - cut])


@pytest.mark.parametrize("step", STEPS)
@CUT
def test_a_crash_at_any_step_leaves_a_log_that_reads_whole_and_goes_on(
    append: Append, tmp_path: Path, place: Place, lines: Lines, measured: bytes, step: int, cut: int
) -> None:
    grown(place, lines, cut)
    device = Failing(place(), step, Died())
    project = Project(
        "p", DataDirectory(str(tmp_path), device), device, SystemClock(), os.urandom, print, rotate_bytes=1
    )
    loop = asyncio.new_event_loop()
    project.try_begin()
    device.arm()
    with suppress(Died):
        project.write([Pending("p", "observations", "o", storable(measured), loop)])
    project.close()  # as the kernel does, and with it the lock
    loop.close()

    seen = FileLog(str(tmp_path), SystemClock())
    run_on(tmp_path, append, expected=len(records(seen)))
    assert len(records(seen)) in (5, 6)


@pytest.mark.parametrize("step", STEPS)
@CUT
def test_an_error_at_any_step_fails_that_append_alone(
    append: Append, tmp_path: Path, place: Place, lines: Lines, measured: bytes, step: int, cut: int
) -> None:
    grown(place, lines, cut)
    device = Failing(place(), step, OSError(5, "broken"))
    project = Project(
        "p", DataDirectory(str(tmp_path), device), device, SystemClock(), os.urandom, print, rotate_bytes=1
    )
    loop = asyncio.new_event_loop()
    outcomes = []
    for count in range(2):
        assert project.try_begin() == "begun"
        device.left = step if count == 0 else -1
        pending = Pending("p", "observations", "o", storable(measured), loop)
        project.write([pending])
        project.end()
        outcomes.append(pending.outcome)
    project.close()
    loop.close()

    stored = [each for each in outcomes if isinstance(each, Stored)]
    assert outcomes[1] in stored
    assert all(isinstance(each, Stored) or each.reason == "io" for each in outcomes)  # type: ignore[union-attr] # one of the two
    run_on(tmp_path, append, expected=3 + len(stored))


def test_a_device_that_is_full_fails_the_sealing(tmp_path: Path, lines: Lines) -> None:
    (tmp_path / ACTIVE).write_bytes(lines([1])[:-1])
    device = ScriptedFiles(write=[0], free_bytes=[0])
    log = LogFile(device, os.open(tmp_path / ACTIVE, os.O_RDWR | os.O_APPEND), "observations", ACTIVE)
    log.catch_up(len(lines([1])) - 1)
    directory = os.open(tmp_path, os.O_RDONLY)

    with pytest.raises(StoreError) as failure:
        seal(device, directory, log)
    log.close()
    os.close(directory)

    assert failure.value.reason == "no_space"
    assert [each.name for each in tmp_path.iterdir()] == [ACTIVE]


class Guarded:
    """A guard that admits its line."""

    keys = frozenset([b"the same"])

    def decide(self) -> Stored | None:
        return None


def test_lines_of_one_round_are_synced_although_more_rounds_follow(
    open_log: Open, measured: bytes, tmp_path: Path
) -> None:
    log = open_log(1)

    async def together() -> list[Stored]:
        calls = [log.append("p", "observations", "o", measured, Guarded()) for _ in range(3)]
        return await asyncio.gather(*calls)

    stored = [*asyncio.run(together()), *asyncio.run(together())]

    assert [each.seq for each in stored] == [1, 2, 3, 4, 5, 6]
    assert [each.seq for each in records(log)] == [1, 2, 3, 4, 5, 6]


class Meanwhile(Files):
    """Another server appends, and seals with it, right before or behind one call of a reader."""

    def __init__(self, when: str, others: Callable[[], object]) -> None:
        self._when = when
        self._others = others

    def names(self, directory: int) -> list[str]:
        self._now("before the listing")
        names = super().names(directory)
        self._now("behind the listing")
        return names

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        if path == ACTIVE:
            self._now("before it is opened")
        descriptor = super().open(path, flags, mode, parent=parent)
        if path == ACTIVE:
            self._now("when it is open")
        return descriptor

    def _now(self, when: str) -> None:
        if when == self._when:
            self._others()


@pytest.mark.parametrize("rotations", [1, 3])
@pytest.mark.parametrize(
    "when", ["before it is opened", "when it is open", "before the listing", "behind the listing"]
)
def test_a_rotation_while_a_log_is_opened_loses_nothing_and_shows_nothing_twice(
    open_log: Open, append: Append, when: str, rotations: int
) -> None:
    log = open_log(1)
    stored = append(log, 1) + append(log, 2)
    reader = open_log(0, Meanwhile(when, lambda: [append(log) for _ in range(rotations)]))

    found = records(reader)

    assert [each.id for each in found[:3]] == [each.id for each in stored]
    assert [each.seq for each in found] == list(range(1, len(found) + 1))


SERVER = """
import asyncio, json, sys
from app.clock import SystemClock
from app.proofs.note import SigningKey
from app.store.file import FileLog
key = lambda: SigningKey(b"k" * 32)
log = FileLog(sys.argv[1], SystemClock(), rotate_bytes=2000, lock_limit_seconds=60.0, key=key)
async def main():
    stored = []
    for _ in range(15):
        stored += await asyncio.gather(*(log.append("p", "observations", "o", sys.argv[2].encode()) for _ in range(3)))
    return [[each.seq, each.id, each.position] for each in stored]
print(json.dumps(asyncio.run(main())))
log.close()
"""


def test_eight_servers_rotate_one_log_lose_nothing_and_sign_one_tree(
    tmp_path: Path, measured: bytes, open_log: Open
) -> None:
    command = [sys.executable, "-c", SERVER, str(tmp_path), measured.decode()]
    servers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]

    told = sorted(
        tuple(each) for server in servers for each in json.loads(server.communicate(timeout=120)[0])
    )

    found = [each for each in open_log().read("p", "observations") if isinstance(each, Line)]
    assert [(each.record.seq, each.record.id, each.position) for each in found] == told
    assert [seq for seq, _, _ in told] == list(range(1, 361))
    assert [one for _, one, _ in told] == sorted(one for _, one, _ in told)
    assert len(files_of(tmp_path)) > 10
    (signed,) = verify_project(
        DataDirectory(str(tmp_path), Files()), Files(), "p", SigningKey(b"k" * 32).public
    )
    assert (signed.faults, signed.lines, signed.proven) == ((), 360, 360)
