"""The file backend as callers see it: what is acknowledged, what stands in the files, what each failure is called."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.records.codec import Record, Unstorable
from app.records.names import BadProjectName
from app.records.ulid import LAST, ulid_text, ulid_value
from app.store.file import FileLog
from app.store.log import LOGS, Damage, Line, LogName, Stored
from app.store.scripted import ScriptedFiles
from app.store.writer import OPEN_PROJECTS

Append = Callable[..., list[Any]]
Lines = Callable[..., bytes]
Place = Callable[..., Path]


class SteeredClock(SystemClock):
    """A wall clock that shows what it is told to."""

    def __init__(self, wall_ns: int) -> None:
        self.now_ns = wall_ns

    def wall_ns(self) -> int:
        return self.now_ns


@pytest.fixture
def reported() -> list[Damage]:
    """What logs of this test reported."""
    return []


@pytest.fixture
def open_log(tmp_path: Path, reported: list[Damage]) -> Iterator[Callable[..., FileLog]]:
    """`open_log(**options)`: a log on the test's directory that is closed at the end."""
    opened: list[FileLog] = []

    def make(clock: SystemClock | None = None, **options: Any) -> FileLog:
        opened.append(FileLog(str(tmp_path), clock or SystemClock(), report=reported.append, **options))
        return opened[-1]

    yield make
    for log in opened:
        log.close()


def failures(outcomes: list[Any]) -> list[tuple[str, ...]]:
    return [(outcome.reason,) if isinstance(outcome, StoreError) else ("stored",) for outcome in outcomes]


def seqs(log: FileLog, name: LogName = "observations") -> list[int | None]:
    return [found.record.seq for found in log.read("p", name) if isinstance(found, Line)]


def damages(log: FileLog) -> list[Damage]:
    return [found for found in log.read("p", "observations") if isinstance(found, Damage)]


OBSERVATIONS = "projects/p/logs/observations.jsonl"
NOTE = '{"pid":1,"suspect":[{"log":"observations","offset":%d,"length":%d,"sha256":""}]}'


def test_an_append_answers_where_the_line_stands(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    log = open_log(SteeredClock(1_784_000_000_123_456_789))

    first, second = append(log) + append(log)

    text = place().read_bytes()
    assert [first.seq, first.position, first.log, first.at] == [
        1,
        0,
        "observations",
        "2026-07-14T03:33:20.123456Z",
    ]
    assert [second.seq, second.position] == [2, text.index(b"\n") + 1]
    assert [json.loads(line)["id"] for line in text.splitlines()] == [first.id, second.id]


def test_what_was_appended_is_read_back(
    open_log: Callable[..., FileLog], append: Append, measured: bytes
) -> None:
    log = open_log()
    (stored,) = append(log)

    (found,) = log.read("p", "observations")

    assert isinstance(found, Line)
    assert isinstance(found.record, Record)
    assert (found.position, found.record.seq, found.record.id, found.record.at) == (
        0,
        stored.seq,
        stored.id,
        stored.at,
    )
    assert found.record.raw.endswith(measured[1:])


def test_reading_goes_on_from_a_position(open_log: Callable[..., FileLog], append: Append) -> None:
    log = open_log()
    stored = append(log, 3)

    found = list(log.read("p", "observations", stored[1].position))

    assert [line.position for line in found if isinstance(line, Line)] == [
        stored[1].position,
        stored[2].position,
    ]


def test_a_log_that_does_not_exist_is_empty(open_log: Callable[..., FileLog], append: Append) -> None:
    log = open_log()
    before = list(log.read("p", "observations"))
    append(log)

    assert (before, list(log.read("p", "claims"))) == ([], [])


def test_many_appends_at_once_share_writes_and_syncs(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    device = ScriptedFiles()
    log = open_log(files=device)

    stored = append(log, 200)

    assert [one.seq for one in stored] == list(range(1, 201))
    assert device.calls["write"] == device.calls["fdatasync"] <= 50


def test_appends_to_all_logs_have_ids_that_grow_over_all_of_them(
    open_log: Callable[..., FileLog], measured: bytes
) -> None:
    log = open_log(SteeredClock(10**18), randomness=bytes)

    async def one_by_one() -> list[Stored]:
        names: list[LogName] = ["observations", "claims", "documents", "observations"]
        return [await log.append("p", name, name[0], measured) for name in names]

    stored = asyncio.run(one_by_one())

    assert [one.seq for one in stored] == [1, 1, 1, 2]
    assert [one.id[2:] for one in stored] == sorted({one.id[2:] for one in stored})


@pytest.mark.parametrize("umask", [0o000, 0o027, 0o777])
def test_files_and_directories_are_private_whatever_the_umask(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path, umask: int
) -> None:
    earlier = os.umask(umask)
    try:
        append(open_log())
    finally:
        os.umask(earlier)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"projects": 0o700, "p": 0o700, "logs": 0o700, "lock": 0o600, "observations.jsonl": 0o600}


def test_the_data_directory_is_made_when_it_is_missing(tmp_path: Path, append: Append) -> None:
    log = FileLog(str(tmp_path / "new" / "data"), SystemClock())

    (stored,) = append(log)
    log.close()

    assert stored.seq == 1
    assert stat.S_IMODE((tmp_path / "new" / "data").stat().st_mode) == 0o700


def test_a_data_directory_that_is_a_link_is_followed(tmp_path: Path, append: Append) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    log = FileLog(str(tmp_path / "link"), SystemClock())

    (stored,) = append(log)
    log.close()

    assert [line.position for line in log.read("p", "observations") if isinstance(line, Line)] == [0]
    assert (stored.seq, (tmp_path / "real" / OBSERVATIONS).is_file()) == (1, True)


@pytest.mark.parametrize(
    "name",
    ["projects", "projects/p", "projects/p/logs", "projects/p/lock", "projects/p/logs/observations.jsonl"],
)
@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_symbolic_link_below_the_data_directory_is_not_followed(
    open_log: Callable[..., FileLog],
    append: Append,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    target: str,
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    if target == "there" and "." in name:
        (outside / target).touch()
    elif target == "there":
        (outside / target).mkdir()
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).symlink_to(outside / target)
    before = sorted(outside.rglob("*"))

    log = open_log()

    assert failures(append(log)) == [("symlink",)]
    assert sorted(outside.rglob("*")) == before


def test_reading_follows_no_symbolic_link(
    open_log: Callable[..., FileLog], place: Place, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_text("secret")
    place().symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError) as failure:
        list(open_log().read("p", "observations"))

    assert failure.value.reason == "symlink"


def test_a_log_that_is_no_regular_file_is_refused(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    os.mkfifo(place())

    assert failures(append(open_log())) == [("io",)]


def test_a_directory_that_is_a_file_is_refused(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path
) -> None:
    (tmp_path / "projects").touch()

    assert failures(append(open_log())) == [("io",)]


@pytest.mark.parametrize(("mounted", "outcome"), [(0, "no_volume"), (1, "stored")])
def test_a_required_volume_must_be_mounted(
    open_log: Callable[..., FileLog], append: Append, mounted: int, outcome: str
) -> None:
    log = open_log(mount="require", files=ScriptedFiles(is_mount=[mounted] * 9))

    assert failures(append(log)) == [(outcome,)]


def test_an_unmounted_volume_leaves_no_trace_in_the_mount_point(tmp_path: Path, append: Append) -> None:
    log = FileLog(str(tmp_path), SystemClock(), mount="require")

    outcomes = append(log)
    log.close()

    assert failures(outcomes) == [("no_volume",)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("project", ["", "..", "A", "a/b", "../../etc"])
def test_only_normalised_names_become_paths(
    open_log: Callable[..., FileLog], append: Append, project: str
) -> None:
    log = open_log()

    (outcome,) = append(log, project=project)

    assert isinstance(outcome, BadProjectName)
    with pytest.raises(BadProjectName):
        list(log.read(project, "observations"))


def test_a_body_that_is_not_one_line_is_refused(open_log: Callable[..., FileLog]) -> None:
    with pytest.raises(Unstorable):
        asyncio.run(open_log().append("p", "observations", "o", b"{}"))


def test_a_closed_log_accepts_nothing(open_log: Callable[..., FileLog], append: Append) -> None:
    log = open_log()
    append(log)
    log.close()

    assert failures(append(log)) == [("closed",)]


def test_closing_writes_what_waits(open_log: Callable[..., FileLog], measured: bytes) -> None:
    log = open_log()

    async def close_while_waiting() -> list[Any]:
        calls = [asyncio.ensure_future(log.append("p", "observations", "o", measured)) for _ in range(50)]
        await asyncio.sleep(0)
        log.close()
        return await asyncio.gather(*calls)

    assert [stored.seq for stored in asyncio.run(close_while_waiting())] == list(range(1, 51))


def test_a_cancelled_append_harms_nobody(open_log: Callable[..., FileLog], measured: bytes) -> None:
    log = open_log()

    async def cancel_one() -> Stored:
        given_up = asyncio.ensure_future(log.append("p", "observations", "o", measured))
        await asyncio.sleep(0)
        given_up.cancel()
        return await log.append("p", "observations", "o", measured)

    assert asyncio.run(cancel_one()).seq == 2
    assert seqs(log) == [1, 2]


def test_a_loop_that_ended_meanwhile_harms_nobody(
    open_log: Callable[..., FileLog], append: Append, measured: bytes
) -> None:
    log = open_log()
    (tried,) = append(log)
    loop = asyncio.new_event_loop()
    coroutine = log.append("p", "observations", "o", measured)
    with pytest.raises(RuntimeError, match="stop"):
        loop.run_until_complete(_started_only(coroutine))
    loop.close()

    assert append(log)[0].seq > tried.seq


async def _started_only(coroutine: Any) -> None:
    coroutine.send(None)
    coroutine.close()
    raise RuntimeError("stop")


def test_a_file_that_was_renamed_away_is_not_written_to(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    log = open_log()
    append(log, 3)
    rotated = place().rename(place().with_name("rotated.jsonl"))
    before = rotated.read_bytes()

    (stored,) = append(log)

    assert (stored.seq, stored.position, rotated.read_bytes()) == (1, 0, before)


def test_a_removed_file_is_made_again_and_its_ids_go_on(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    log = open_log(SteeredClock(10**18), randomness=bytes)
    earlier = append(log, 3)
    place().unlink()

    (stored,) = append(log)

    assert stored.seq == 1
    assert stored.id > earlier[-1].id


def test_a_project_directory_that_was_moved_away_is_made_again(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path
) -> None:
    log = open_log()
    append(log, 3)
    (tmp_path / "projects" / "p").rename(tmp_path / "moved")

    (stored,) = append(log)

    assert stored.seq == 1
    assert (tmp_path / OBSERVATIONS).stat().st_size > 0


def test_a_replaced_file_is_continued_from_its_own_tail(
    open_log: Callable[..., FileLog], append: Append, place: Place, lines: Lines
) -> None:
    log = open_log()
    append(log, 3)
    place().unlink()
    place(lines([1, 2, 3, 4, 5, 6, 7]))

    assert append(log)[0].seq == 8


def test_a_file_that_was_cut_is_continued_from_where_it_ends_now(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    log = open_log()
    stored = append(log, 3)
    os.truncate(place(), stored[1].position)

    again = append(log)

    assert again[0].seq == 2
    assert again[0].id > stored[2].id


def test_another_server_lines_are_seen_before_each_append(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    one, other = open_log(SteeredClock(10**18)), open_log(SteeredClock(9 * 10**17))

    stored = append(one) + append(other) + append(one, 2) + append(other)

    assert [line.seq for line in stored] == [1, 2, 3, 4, 5]
    assert [line.id for line in stored] == sorted({line.id for line in stored})


def test_another_server_lines_in_another_log_raise_the_ids_here(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    one, other = open_log(SteeredClock(9 * 10**17)), open_log(SteeredClock(10**18))
    append(one)

    (theirs,) = append(other, log_name="claims")
    (ours,) = append(one)

    assert (ours.seq, ours.id[2:] > theirs.id[2:]) == (2, True)


def test_a_last_line_without_a_line_feed_is_an_event(
    open_log: Callable[..., FileLog], append: Append, place: Place, lines: Lines, reported: list[Damage]
) -> None:
    content = lines([1, 2])[:-1]
    place(content)
    log = open_log()

    (stored,) = append(log)

    assert (stored.seq, stored.position, reported) == (3, len(content) + 1, [])
    assert seqs(log) == [1, 2, 3]


def test_a_torn_tail_stays_and_is_reported_once(
    open_log: Callable[..., FileLog], append: Append, place: Place, lines: Lines, reported: list[Damage]
) -> None:
    good, torn = lines([1, 2]), lines([3])[:-20]
    place(good + torn)
    log = open_log()

    stored = append(log) + append(log)

    assert [line.seq for line in stored] == [3, 4]
    assert reported == [Damage(OBSERVATIONS, len(good), len(torn), "torn")]
    assert place().read_bytes().startswith(good + torn + b"\n")
    assert damages(log) == [Damage(OBSERVATIONS, len(good), len(torn), "not_json")]


@pytest.mark.parametrize(
    ("rubbish", "reason"),
    [
        pytest.param(b"\0" * 50_000_000, "too_long", id="50 MB of NULs"),
        pytest.param(b"garbage " * 6_000_000, "too_long", id="50 MB of garbage without a line feed"),
        pytest.param(b"\0" * 500_000, "nul", id="a block of NULs"),
        pytest.param(b"garbage " * 60_000, "torn", id="garbage without a line feed"),
        pytest.param(b"garbage\n" * 20_000, "not_json", id="many lines of garbage"),
    ],
)
def test_any_amount_of_rubbish_at_the_end_is_passed_over(
    open_log: Callable[..., FileLog],
    append: Append,
    place: Place,
    lines: Lines,
    reported: list[Damage],
    rubbish: bytes,
    reason: Any,
) -> None:
    good = lines([1, 2])
    place(good + rubbish)

    (stored,) = append(open_log())

    length = len(rubbish.removesuffix(b"\n"))
    assert (stored.seq, reported) == (3, [Damage(OBSERVATIONS, len(good), length, reason)])


def test_a_line_of_a_later_server_is_continued_and_kept(
    open_log: Callable[..., FileLog], append: Append, place: Place, reported: list[Damage]
) -> None:
    later = b'{"v":7,"seq":41,"id":"o_%b","what":"ever"}\n' % ulid_text(LAST - 9).encode()
    place(later + b'{"v":8}\n')
    log = open_log()

    (stored,) = append(log)

    assert (stored.seq, ulid_value(stored.id[2:]), reported) == (42, LAST - 8, [])
    assert place().read_bytes().startswith(later + b'{"v":8}\n')


def test_the_end_of_all_ids_is_a_typed_error(
    open_log: Callable[..., FileLog], append: Append, place: Place
) -> None:
    place(b'{"v":7,"seq":41,"id":"o_%b"}\n' % ulid_text(LAST - 2).encode())
    log = open_log()

    outcomes = append(log) + append(log) + append(log) + append(log)

    assert failures(outcomes) == [("stored",), ("stored",), ("read_only",), ("read_only",)]


def test_a_time_that_cannot_be_written_is_a_typed_error(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    clock = SteeredClock((2**48 - 1) * 1_000_000)
    log = open_log(clock)
    outcomes = append(log)
    clock.now_ns = 10**18

    assert failures(outcomes + append(log)) == [("io",), ("stored",)]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "no_space"),
        (errno.EDQUOT, "no_space"),
        (errno.EIO, "io"),
        (errno.EROFS, "read_only"),
        (errno.EACCES, "permission"),
        (errno.EPERM, "permission"),
        (errno.ESTALE, "io"),
    ],
)
def test_a_failed_write_is_named_and_the_next_one_works(
    open_log: Callable[..., FileLog], append: Append, number: int, reason: str
) -> None:
    device = ScriptedFiles(write=[OSError(number, os.strerror(number))])
    log = open_log(files=device)

    outcomes = append(log) + append(log)

    assert failures(outcomes) == [(reason,), ("stored",)]
    assert seqs(log) == [1]


@pytest.mark.parametrize("call", ["open", "fsync", "pwrite", "unlock", "pread"])
def test_every_other_call_may_fail_without_an_acknowledgement(
    open_log: Callable[..., FileLog], append: Append, call: str
) -> None:
    device = ScriptedFiles(**{call: [OSError(errno.EIO, "input/output error")]})
    log = open_log(files=device)

    outcomes = append(log) + append(log)

    assert failures(outcomes) == [("io",), ("stored",)]


@pytest.mark.parametrize(("free", "reason"), [(0, "no_space"), (10**9, "io")])
def test_a_short_write_leaves_a_piece_that_is_fenced(
    open_log: Callable[..., FileLog], append: Append, reported: list[Damage], free: int, reason: str
) -> None:
    log = open_log(files=ScriptedFiles(write=[None, 30], free_bytes=[free]))

    outcomes = append(log) + append(log) + append(log)

    assert failures(outcomes) == [("stored",), (reason,), ("stored",)]
    assert [outcomes[0].seq, outcomes[2].seq] == [1, 2]
    assert [(damage.length, damage.reason) for damage in reported] == [(30, "torn")]
    assert [(damage.length, damage.reason) for damage in damages(log)] == [(30, "not_json")]


def test_whole_lines_of_a_short_write_are_acknowledged(
    tmp_path: Path, measured: bytes, append: Append, place: Place
) -> None:
    log = FileLog(str(tmp_path), SystemClock())
    append(log)
    length = place().stat().st_size
    log.close()
    device = ScriptedFiles(lock=[BlockingIOError()] * 10, write=[2 * length + 9], free_bytes=[0])
    log = FileLog(str(tmp_path), SystemClock(), files=device)

    outcomes = append(log, 4) + append(log)
    log.close()

    assert failures(outcomes) == [("stored",), ("stored",), ("no_space",), ("no_space",), ("stored",)]
    assert seqs(log) == [1, 2, 3, 4]


@pytest.mark.parametrize("taken", range(0, 40, 3))
def test_a_write_cut_anywhere_loses_nothing_that_was_acknowledged(
    open_log: Callable[..., FileLog], append: Append, taken: int
) -> None:
    log = open_log(files=ScriptedFiles(write=[None, taken, taken]))

    outcomes = append(log) + append(log) + append(log) + append(log)

    acknowledged = [outcome.seq for outcome in outcomes if isinstance(outcome, Stored)]
    assert (acknowledged, seqs(log)) == ([1, 2], [1, 2])


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize(
    ("script", "outcomes", "kept"),
    [
        pytest.param(
            {"write": [None, OSError(errno.ENOSPC, "full")]}, ["stored", "no_space", "stored"], 2, id="full"
        ),
        pytest.param(
            {"write": [None, OSError(errno.EIO, "broken")]}, ["stored", "io", "stored"], 2, id="broken"
        ),
        pytest.param(
            {"write": [None, 0], "free_bytes": [0]}, ["stored", "no_space", "stored"], 2, id="nothing taken"
        ),
        pytest.param(
            {"write": [None, 30], "free_bytes": [0]}, ["stored", "no_space", "stored"], 2, id="a piece taken"
        ),
        pytest.param(
            {"fdatasync": [None, OSError(errno.EIO, "lost")]},
            ["stored", "io", "read_only"],
            2,
            id="not synced",
        ),
    ],
)
def test_every_log_is_as_durable_as_the_others(
    open_log: Callable[..., FileLog],
    append: Append,
    name: LogName,
    script: dict[str, Any],
    outcomes: list[str],
    kept: int,
) -> None:
    log = open_log(files=ScriptedFiles(**script))

    answers = [append(log, log_name=name)[0] for _ in range(3)]

    assert [getattr(answer, "reason", "stored") for answer in answers] == outcomes
    assert seqs(log, name) == list(range(1, kept + 1))


class Stands:
    """A guard that always answers with a line that stands already."""

    keys: frozenset[bytes] = frozenset()

    def decide(self) -> Stored | None:
        return Stored(1, "c_x", "then", "claims", 0, created=False)


@pytest.mark.parametrize("error", [None, OSError(errno.EIO, "lost")], ids=["synced", "not synced"])
def test_a_line_that_stands_is_synced_before_it_is_answered(
    open_log: Callable[..., FileLog], measured: bytes, error: OSError | None
) -> None:
    device = ScriptedFiles(fdatasync=[error])
    log = open_log(files=device)

    async def ask() -> list[Any]:
        call = log.append("p", "claims", "c", measured, Stands())
        return list(await asyncio.gather(call, return_exceptions=True))

    (answer,) = asyncio.run(ask())

    assert (device.calls["fdatasync"], device.calls["write"]) == (1, 0)
    assert answer == Stands().decide() if error is None else failures([answer]) == [("io",)]


def test_after_a_failed_sync_nothing_of_the_same_batch_is_called_durable(
    open_log: Callable[..., FileLog], measured: bytes
) -> None:
    class Admits:
        keys = frozenset([b"the same"])

        def decide(self) -> None:
            return None

    device = ScriptedFiles(lock=[BlockingIOError()] * 10, fdatasync=[OSError(errno.EIO, "lost")])
    log = open_log(files=device)

    async def ask() -> list[Any]:
        calls = [log.append("p", "claims", "c", measured, Admits()) for _ in range(3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    answers = asyncio.run(ask())

    assert failures(answers) == [("io",), ("read_only",), ("read_only",)]
    assert (device.calls["fdatasync"], device.calls["write"]) == (1, 3)


def test_after_a_failed_sync_the_log_is_read_only_and_the_others_are_not(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    device = ScriptedFiles(fdatasync=[None, OSError(errno.EIO, "input/output error")])
    log = open_log(files=device)

    outcomes = append(log) + append(log) + append(log, 2) + append(log, log_name="claims")

    assert failures(outcomes) == [("stored",), ("io",), ("read_only",), ("read_only",), ("stored",)]
    assert OBSERVATIONS in outcomes[2].message


@pytest.mark.parametrize(("altered", "reason"), [(False, "suspect_same"), (True, "suspect_altered")])
def test_a_restart_compares_what_a_failed_sync_left(
    open_log: Callable[..., FileLog],
    append: Append,
    place: Place,
    reported: list[Damage],
    altered: bool,  # noqa: FBT001 - a column of the table
    reason: Any,
) -> None:
    device = ScriptedFiles(fdatasync=[None, OSError(errno.ENOSPC, "no space")])
    first = open_log(files=device)
    append(first)
    outcomes = append(first)
    first.close()
    size = place().stat().st_size
    if altered:
        os.truncate(place(), size - 10)

    again = append(open_log()) + append(open_log())

    start = size // 2
    suspects = [damage for damage in reported if damage.reason.startswith("suspect")]
    assert failures(outcomes) == [("no_space",)]
    assert suspects == [Damage(OBSERVATIONS, start, size - start, reason)]
    assert [line.seq for line in again] == ([2, 3] if altered else [3, 4])


def test_a_note_that_cannot_be_written_is_reported(
    open_log: Callable[..., FileLog], append: Append, reported: list[Damage]
) -> None:
    device = ScriptedFiles(fdatasync=[OSError(errno.EIO, "input/output error")])
    log = open_log(files=device)
    device.then(pwrite=[None, OSError(errno.EIO, "input/output error")])

    outcomes = append(log)

    assert failures(outcomes) == [("io",)]
    log.close()
    assert [(damage.offset, damage.reason) for damage in reported] == [(0, "note_failed")]


def test_a_held_lock_is_waited_for(open_log: Callable[..., FileLog], append: Append) -> None:
    log = open_log(files=ScriptedFiles(lock=[None, None, *[BlockingIOError()] * 12]))

    assert failures(append(log) + append(log)) == [("stored",), ("stored",)]


def test_a_lock_that_is_never_let_go_names_its_holder(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path
) -> None:
    log = open_log(lock_limit_seconds=0.05)
    append(log)
    lock = tmp_path / "projects" / "p" / "lock"
    lock.write_text('{"pid":4711,"host":"elsewhere"}')
    with lock.open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)

        (outcome,) = append(log)

    assert isinstance(outcome, StoreError)
    assert outcome.reason == "locked"
    assert "4711" in outcome.message
    assert "elsewhere" in outcome.message
    assert failures(append(log)) == [("stored",)]


def test_a_held_project_does_not_keep_the_others_waiting(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path, measured: bytes
) -> None:
    log = open_log(lock_limit_seconds=30)
    append(log)
    with (tmp_path / "projects" / "p" / "lock").open() as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)

        async def both() -> tuple[Stored, bool, Stored]:
            held = asyncio.ensure_future(log.append("p", "observations", "o", measured))
            free = await log.append("q", "observations", "o", measured)
            was_waiting = not held.done()
            fcntl.flock(holder, fcntl.LOCK_UN)
            return free, was_waiting, await held

        free, was_waiting, held = asyncio.run(both())

    assert (free.seq, was_waiting, held.seq) == (1, True, 2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"pid":1}', id="a process"),
        pytest.param("", id="nothing"),
        pytest.param("garbage", id="garbage"),
        pytest.param('{"pid":1,"host":"another-boot"}', id="another boot"),
        pytest.param("\0" * 100, id="NULs"),
        pytest.param('{"x":' + "[" * 60_000, id="nested deeper than can be read"),
        pytest.param("x" * 10_000_000, id="very long"),
        pytest.param(NOTE % (0, 9_000_000_000_000_000_000), id="a range that memory cannot hold"),
        pytest.param(NOTE % (0, 0x7FFF_F000), id="a range of another file"),
        pytest.param(NOTE % (-1, 1), id="a range before the file"),
        pytest.param(NOTE % (1, -1), id="a range that goes backwards"),
        pytest.param(NOTE % (2**63 - 1, 1), id="a range behind every file"),
        pytest.param(NOTE % (2**70, 1), id="a range that is no offset"),
    ],
)
def test_a_lock_file_that_was_left_behind_locks_nobody(
    open_log: Callable[..., FileLog], append: Append, place: Place, tmp_path: Path, text: str
) -> None:
    place(b"")
    lock = tmp_path / "projects" / "p" / "lock"
    lock.write_text(text)

    (stored,) = append(open_log())

    assert stored.seq == 1
    assert json.loads(lock.read_text()) == {"pid": os.getpid(), "host": os.uname().nodename}


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_refused(
    open_log: Callable[..., FileLog], append: Append, number: int
) -> None:
    log = open_log(files=ScriptedFiles(lock=[OSError(number, "no locks")]))

    assert failures(append(log)) == [("locks_unavailable",)]


@pytest.mark.parametrize("second", [0, OSError(errno.ENOLCK, "no locks")], ids=["pretended", "refused"])
def test_locks_that_do_not_exclude_are_refused(
    open_log: Callable[..., FileLog], append: Append, second: OSError | int
) -> None:
    device = ScriptedFiles(lock=[None, second])
    log = open_log(files=device)

    outcomes = append(log)

    assert failures(outcomes) == [("locks_unavailable",)]
    assert device.calls["write"] == 0


def test_a_lock_file_that_keeps_being_replaced_is_given_up(
    open_log: Callable[..., FileLog], append: Append, tmp_path: Path
) -> None:
    class Replacing(ScriptedFiles):
        def lock(self, descriptor: int) -> None:
            super().lock(descriptor)
            (tmp_path / "projects" / "p" / "lock").unlink()

    assert failures(append(open_log(files=Replacing()))) == [("io",)]


def test_open_files_do_not_grow_with_the_number_of_projects(
    open_log: Callable[..., FileLog], append: Append
) -> None:
    log = open_log()
    for number in range(OPEN_PROJECTS):
        append(log, project=f"p{number}")
    before = len(os.listdir("/proc/self/fd"))

    stored = [append(log, project=f"q{number}")[0] for number in range(2 * OPEN_PROJECTS)]

    assert len(os.listdir("/proc/self/fd")) == before
    assert [line.seq for line in stored + append(log, project="p0")] == [1] * len(stored) + [2]


def test_closing_lets_go_of_every_descriptor(tmp_path: Path, append: Append) -> None:
    before = len(os.listdir("/proc/self/fd"))
    log = FileLog(str(tmp_path), SystemClock())
    append(log, 3)

    log.close()

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_log_that_was_never_used_is_closed_without_a_thread(tmp_path: Path) -> None:
    before = threading.active_count()

    FileLog(str(tmp_path), SystemClock()).close()

    assert threading.active_count() == before
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_cannot_be_read_is_a_typed_error(open_log: Callable[..., FileLog]) -> None:
    log = open_log(files=ScriptedFiles(open=[OSError(errno.EACCES, "no")]))

    with pytest.raises(StoreError) as failure:
        list(log.read("p", "observations"))

    assert failure.value.reason == "permission"


def test_any_number_of_project_names_is_accepted(open_log: Callable[..., FileLog]) -> None:
    log = open_log()

    assert [list(log.read(f"p{number}", "claims")) for number in range(1_100)] == [[]] * 1_100
