"""The writer's thread: it starts late, ends clean, and leaves nobody waiting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.log import Damage, Stored
from app.store.pending import Pending
from app.store.project import Project
from app.store.scripted import ScriptedFiles
from app.store.writer import Writer


def test_the_thread_starts_with_the_first_append_and_ends_with_the_close(
    tmp_path: Path, append: Callable[..., list[Stored]]
) -> None:
    before = threading.active_count()
    log = FileLog(str(tmp_path), SystemClock())
    counts = [threading.active_count()]

    append(log)
    counts.append(threading.active_count())
    log.close()

    assert [count - before for count in [*counts, threading.active_count()]] == [0, 1, 0]


def test_closing_twice_does_no_harm(tmp_path: Path, append: Callable[..., list[Stored]]) -> None:
    log = FileLog(str(tmp_path), SystemClock())
    append(log)

    log.close()
    log.close()

    again = FileLog(str(tmp_path), SystemClock())
    stored = append(again)
    again.close()
    assert [each.seq for each in stored] == [2]


class Strange(Exception):
    """Of no family that the writer knows: it ends the thread."""


class Breaking(Files):
    """Each sync stalls until it may `go_on`, and raises `error` while there is one."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error
        self.go_on = threading.Event()

    def fdatasync(self, descriptor: int) -> None:
        self.go_on.wait(5)
        if self.error:
            raise self.error
        super().fdatasync(descriptor)


def in_projects(log: FileLog, measured: bytes, projects: str, then: Callable[[], object]) -> list[object]:
    """One append to each project, `then` while they wait, and the reasons or numbers that came of them."""

    async def several() -> list[object]:
        calls = [asyncio.ensure_future(log.append(one, "observations", "o", measured)) for one in projects]
        await asyncio.sleep(0)
        then()
        return list(await asyncio.gather(*calls, return_exceptions=True))

    return [getattr(one, "reason", None) or getattr(one, "seq", one) for one in asyncio.run(several())]


@pytest.mark.parametrize("error", [RecursionError("deep"), MemoryError(), ArithmeticError("a bug")], ids=repr)
def test_an_unforeseen_error_fails_its_project_alone_and_is_reported(
    measured: bytes, tmp_path: Path, error: Exception
) -> None:
    reported: list[Damage] = []
    device = Breaking(error)
    log = FileLog(str(tmp_path), SystemClock(), files=device, report=reported.append)
    failed = in_projects(log, measured, "ppp", device.go_on.set)
    device.error = None

    stored = in_projects(log, measured, "qp", lambda: None)
    log.close()

    assert (set(failed), stored[0]) == ({"io"}, 1)
    assert set(reported) == {Damage("projects/p", 0, 0, "writer_failed")}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_fails_the_project_it_served_and_the_next_append_starts_another(
    measured: bytes, tmp_path: Path
) -> None:
    device = Breaking(Strange())
    log = FileLog(str(tmp_path), SystemClock(), files=device)
    failed = in_projects(log, measured, "p", device.go_on.set)
    device.error = None

    stored = in_projects(log, measured, "pq", lambda: None)
    log.close()

    assert (failed, stored) == (["io"], [2, 1])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_waits_when_the_thread_dies_is_served_by_another(measured: bytes, tmp_path: Path) -> None:
    class Once(Breaking):
        def fdatasync(self, descriptor: int) -> None:
            try:
                super().fdatasync(descriptor)
            finally:
                self.error = None

    device = Once(Strange())
    log = FileLog(str(tmp_path), SystemClock(), files=device)

    outcomes = in_projects(log, measured, "pqr", device.go_on.set)
    log.close()

    assert outcomes == ["io", 1, 1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_after_the_close_leaves_nobody_waiting(measured: bytes, tmp_path: Path) -> None:
    device = Breaking(Strange())
    log = FileLog(str(tmp_path), SystemClock(), files=device)

    def close() -> None:
        log.close(0)
        device.go_on.set()

    outcomes = in_projects(log, measured, "pq", close)
    log.close()

    assert outcomes == ["closed", "closed"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_report_that_breaks_keeps_nobody_waiting(measured: bytes, tmp_path: Path) -> None:
    def broken(_damage: Damage) -> None:
        raise Strange

    device = Breaking(ArithmeticError("a bug"))
    log = FileLog(str(tmp_path), SystemClock(), files=device, report=broken)
    failed = in_projects(log, measured, "pq", device.go_on.set)
    device.error = None

    stored = in_projects(log, measured, "q", lambda: None)
    log.close()

    assert (failed, stored) == (["io", "io"], [2])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_while_it_serves_nobody_fails_all_who_wait(tmp_path: Path) -> None:
    def held(name: str) -> Project:
        device = ScriptedFiles(lock=[BlockingIOError()] * 10_000)
        return Project(name, DataDirectory(str(tmp_path), device), device, SystemClock(), bytes, print)

    writer, no_line = Writer(held, SystemClock(), 60_000_000_000, print), Any
    loop = asyncio.new_event_loop()
    pending = Pending("p", "observations", "o", b"", loop)
    writer.put(pending)
    writer.put(cast(Pending, no_line))

    with pytest.raises(StoreError) as failure:
        loop.run_until_complete(pending.future)
    loop.close()
    writer.close()
    for thread in threading.enumerate():
        if thread.name == "log-writer":  # its death is told when it is dead, not in the next test
            thread.join(5)

    assert failure.value.reason == "io"


def test_a_thread_that_cannot_be_started_is_a_typed_error_and_tried_again(
    measured: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    log = FileLog(str(tmp_path), SystemClock())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        failed = in_projects(log, measured, "p", lambda: None)

    stored = in_projects(log, measured, "p", lambda: None)
    log.close()

    assert (failed, stored) == (["io"], [1])


HOLD = """
import fcntl, sys
lock = open(sys.argv[1])
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held_elsewhere(tmp_path: Path) -> Iterator[None]:
    """The lock of project `p` is held by another process."""
    lock = tmp_path / "projects" / "p" / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.communicate()


def elapsed(call: Callable[[], object]) -> float:
    started = SystemClock().monotonic_ns()
    call()
    return (SystemClock().monotonic_ns() - started) / 1e9


@pytest.mark.usefixtures("held_elsewhere")
def test_a_bounded_close_does_not_wait_for_a_lock_that_another_process_holds(
    measured: bytes, tmp_path: Path
) -> None:
    log = FileLog(str(tmp_path), SystemClock(), lock_limit_seconds=60)
    took: list[float] = []

    outcomes = in_projects(log, measured, "qppp", lambda: took.append(elapsed(lambda: log.close(0.3))))
    log.close()

    assert outcomes == [1, "closed", "closed", "closed"]
    assert took[0] < 5
    assert in_projects(log, measured, "p", lambda: None) == ["closed"]


def test_a_bounded_close_does_not_wait_for_a_disk_that_has_stalled(measured: bytes, tmp_path: Path) -> None:
    stalled = Breaking(None)
    log = FileLog(str(tmp_path), SystemClock(), files=stalled)
    took: list[float] = []

    outcomes = in_projects(log, measured, "ppq", lambda: took.append(elapsed(lambda: log.close(0.3))))
    stalled.go_on.set()
    log.close()

    assert outcomes == ["closed", "closed", "closed"]
    assert took[0] < 5


def test_what_was_refused_by_a_bounded_close_and_not_begun_is_not_written(
    measured: bytes, tmp_path: Path
) -> None:
    stalled = Breaking(None)
    log = FileLog(str(tmp_path), SystemClock(), files=stalled)
    in_projects(log, measured, "pq", lambda: log.close(0))

    stalled.go_on.set()
    log.close()

    assert list(log.read("q", "observations")) == []


def test_a_bounded_close_that_has_time_enough_writes_what_waits(measured: bytes, tmp_path: Path) -> None:
    before = threading.active_count()
    log = FileLog(str(tmp_path), SystemClock())

    outcomes = in_projects(log, measured, "pq", lambda: log.close(30))

    assert (outcomes, threading.active_count()) == ([1, 1], before)


def test_a_project_that_cannot_be_opened_fails_its_callers_and_is_tried_again(
    append: Callable[..., list[Stored]], tmp_path: Path
) -> None:
    log = FileLog(str(tmp_path), SystemClock(), files=ScriptedFiles(open=[OSError(13, "no")]))

    first, second = append(log) + append(log)
    log.close()

    assert (getattr(first, "reason", None), second.seq) == ("permission", 1)


def test_a_writer_without_work_closes_at_once() -> None:
    def never(_name: str) -> Project:
        raise AssertionError

    writer = Writer(never, SystemClock(), 0, print)

    writer.close()

    assert threading.active_count() >= 1
