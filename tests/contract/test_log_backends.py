"""What every log backend promises, over all backends: durable when acknowledged, in order, shared, never cut."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError, ToolError
from app.records.codec import Record, body
from app.records.events import Asserted, Measured
from app.store.file import FileLog
from app.store.log import LOGS, Damage, Line, Log, LogName, Stored

ROOT = Path(__file__).parents[2]
PROCESSES = 8
EACH = 40

BACKENDS: dict[str, Callable[[Path, float], Log]] = {
    "file": lambda path, limit: FileLog(str(path), SystemClock(), lock_limit_seconds=limit),
}
OPEN = {"file": "FileLog(sys.argv[1], SystemClock())"}

PROGRAM = """
import asyncio, sys
from app.clock import SystemClock
from app.records.codec import body
from app.records.events import Measured
from app.store.file import FileLog

log = {open}
text = sys.argv[2]
at = "2026-09-22T08:14:03.000000Z"


async def one(number):
    event = Measured("t", {{"by": text, "number": number}}, at, {{"pad": "ü" * (number % 700)}}, True, None)
    stored = await log.append("p", "observations", "o", body(event))
    print(stored.seq, stored.id, text, number, flush=True)


async def main():
    for first in range(0, int(sys.argv[3]), 4):
        await asyncio.gather(*(one(number) for number in range(first, first + 4)))


asyncio.run(main())
log.close()
"""

CLAIMANT = """
import asyncio, sys
from app.clock import SystemClock
from app.records.codec import body
from app.records.events import Asserted
from app.recall.projection import VERSION, row
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import Recipe
from app.store.registry import Registry
from app.tools.recall_guards import NotTwice

log = {open}
files = Files()
root = DataDirectory(sys.argv[1], files)
registry = Registry(log, root, files, Recipe("words", VERSION, row), print, print)


async def one(statement):
    event = Asserted(statement, [], "me", [])
    line = body(event)
    stored = await log.append("p", "claims", "c", line, NotTwice(registry, "p", event, line))
    print(stored.id, stored.created, statement, flush=True)


async def main():
    for number in range(int(sys.argv[3])):
        await asyncio.gather(*(one(each) for each in (f"same {{number}}", f"{{sys.argv[2]}} {{number}}", "same 0")))


asyncio.run(main())
registry.close()
log.close()
"""

STOPPER = """
import asyncio, signal, sys, threading
from app.clock import SystemClock
from app.records.codec import body
from app.records.events import Measured
from app.store.file import FileLog

log = {open}


class Stop:
    keys = frozenset()

    def decide(self):
        print("held", flush=True)
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


event = Measured("t", {{"number": 7}}, "2026-09-22T08:14:03.000000Z", None, True, None)
print(asyncio.run(log.append("p", "observations", "o", body(event), Stop())).seq, flush=True)
log.close()
"""

Open = Callable[..., Log]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of the backend under test."""
    return str(request.param)


@pytest.fixture
def open_log(backend: str, tmp_path: Path) -> Iterator[Open]:
    """`open_log()`: one more server on the same place."""
    opened: list[Log] = []

    def make(lock_limit_seconds: float = 5.0) -> Log:
        opened.append(BACKENDS[backend](tmp_path, lock_limit_seconds))
        return opened[-1]

    yield make
    for log in opened:
        log.close()


def text(number: int = 0) -> bytes:
    return body(Measured("t", {"number": number}, "2026-09-22T08:14:03.000000Z", {"é": "ü"}, True, None))


def appended(log: Log, count: int = 1, project: str = "p", name: LogName = "observations") -> list[Stored]:
    async def together() -> list[Stored]:
        return list(await asyncio.gather(*(log.append(project, name, "o", text(n)) for n in range(count))))

    return asyncio.run(together())


def records(log: Log, project: str = "p") -> list[Record]:
    return [
        found.record
        for found in log.read(project, "observations")
        if isinstance(found, Line) and isinstance(found.record, Record)
    ]


def number_of(record: Record) -> Any:
    """The number with which `text` made this line."""
    assert isinstance(record.event, Measured)
    return record.event.arguments["number"]


def server(backend: str, path: Path, name: str, count: int, program: str = PROGRAM) -> subprocess.Popen[str]:
    program = program.format(open=OPEN[backend])
    command = [sys.executable, "-c", program, str(path), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_what_is_acknowledged_is_read_back_in_order(open_log: Open) -> None:
    log = open_log()

    stored = appended(log, 20)

    assert [(record.seq, record.id, record.at) for record in records(log)] == [
        (one.seq, one.id, one.at) for one in stored
    ]
    assert [number_of(record) for record in records(log)] == list(range(20))


def test_each_acknowledgement_says_where_its_line_begins(open_log: Open) -> None:
    log = open_log()

    stored = appended(log, 5)

    for one in stored:
        found = next(iter(log.read("p", "observations", one.position)))
        assert isinstance(found, Line)
        assert (found.position, found.record.id) == (one.position, one.id)


def test_a_second_server_goes_on_where_the_first_one_ended(open_log: Open) -> None:
    first = appended(open_log(), 3)

    second = appended(open_log(), 3)

    assert [one.seq for one in first + second] == [1, 2, 3, 4, 5, 6]
    assert [one.id for one in first + second] == sorted({one.id for one in first + second})


def test_projects_and_logs_are_counted_apart(open_log: Open) -> None:
    log = open_log()
    appended(log, 3)

    others = [appended(log, project="q")[0].seq, *(appended(log, name=name)[0].seq for name in LOGS[1:])]

    assert others == [1, 1, 1, 1]


def test_loops_in_several_threads_may_append_at_once(open_log: Open) -> None:
    log = open_log()
    threads = [threading.Thread(target=appended, args=(log, 25)) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = records(log)
    assert [record.seq for record in found] == list(range(1, 201))
    assert [record.id for record in found] == sorted({record.id for record in found})


def test_a_closed_log_refuses(open_log: Open) -> None:
    log = open_log()
    log.close()

    with pytest.raises(StoreError) as failure:
        appended(log)

    assert failure.value.reason == "closed"


def test_eight_processes_at_once_lose_nothing_and_agree_on_the_order(
    backend: str, open_log: Open, tmp_path: Path
) -> None:
    running = [server(backend, tmp_path, str(number), EACH) for number in range(PROCESSES)]
    acknowledged = [line.split() for one in running for line in one.communicate(timeout=120)[0].splitlines()]

    found = list(open_log().read("p", "observations"))

    assert [one.returncode for one in running] == [0] * PROCESSES
    assert [line for line in found if isinstance(line, Damage)] == []
    lines = records(open_log())
    assert [line.seq for line in lines] == list(range(1, PROCESSES * EACH + 1))
    assert [line.id for line in lines] == sorted({line.id for line in lines})
    assert sorted((int(seq), identity) for seq, identity, *_ in acknowledged) == [
        (line.seq, line.id) for line in lines
    ]


def test_a_stopped_holder_is_named_and_the_others_go_on_afterwards(open_log: Open, tmp_path: Path) -> None:
    appended(open_log())
    program = (
        "import fcntl, os, sys; f = open(sys.argv[1], 'r+'); fcntl.flock(f, fcntl.LOCK_EX);"
        'f.write(\'{"pid":%d,"host":"here"}\' % os.getpid()); f.truncate(); f.flush(); print(\'held\', flush=True);'
        "sys.stdin.read()"
    )
    lock = str(tmp_path / "projects" / "p" / "lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", program, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    holder.send_signal(signal.SIGSTOP)

    with pytest.raises(StoreError) as failure:
        appended(open_log(lock_limit_seconds=0.05))
    holder.kill()
    holder.communicate()

    assert (failure.value.reason, f"process {holder.pid} on 'here'" in failure.value.message) == (
        "locked",
        True,
    )
    assert appended(open_log())[0].seq == 2


@pytest.mark.parametrize("answers", [1, 2, 17, 60, 150])
def test_a_killed_process_loses_nothing_that_it_acknowledged(
    backend: str, open_log: Open, tmp_path: Path, answers: int
) -> None:
    victim = server(backend, tmp_path, "victim", 100_000)
    assert victim.stdout is not None
    acknowledged = [victim.stdout.readline() for _ in range(answers)]
    victim.kill()
    acknowledged += victim.communicate()[0].splitlines(keepends=True)

    (stored,) = appended(open_log())

    whole = [line.split() for line in acknowledged if line.endswith("\n")]
    known = {(record.seq, record.id) for record in records(open_log())}
    assert {(int(seq), identity) for seq, identity, *_ in whole} <= known
    assert stored.seq == max(seq for seq, _ in known) == len(known)


class Once:
    """Lets a line with this number in only where none stands; keeps how often it was asked."""

    def __init__(self, log: Log, number: int, refusal: ToolError | None = None) -> None:
        self.keys = frozenset([f"number {number}".encode()])
        self.asked = 0
        self._log = log
        self._number = number
        self._refusal = refusal

    def decide(self) -> Stored | None:
        """The line that stands, or None."""
        self.asked += 1
        if self._refusal is not None:
            raise self._refusal
        for found in self._log.read("p", "observations"):
            if isinstance(found, Line) and isinstance(found.record, Record):
                record = found.record
                if number_of(record) == self._number:
                    return Stored(
                        record.seq, record.id, record.at, "observations", found.position, created=False
                    )
        return None


def guarded(log: Log, guards: list[Once], numbers: list[int]) -> list[Stored | BaseException]:
    async def together() -> list[Stored | BaseException]:
        calls = [
            log.append("p", "observations", "o", text(number), guard)
            for number, guard in zip(numbers, guards, strict=True)
        ]
        return list(await asyncio.gather(*calls, return_exceptions=True))

    return asyncio.run(together())


def test_two_equal_appends_at_once_are_one_line(open_log: Open) -> None:
    log = open_log()

    one, other = guarded(log, [Once(log, 1), Once(log, 1)], [1, 1])

    assert isinstance(one, Stored)
    assert isinstance(other, Stored)
    assert (one.created, other.created) == (True, False)
    assert (one.id, one.seq, one.at, one.position) == (other.id, other.seq, other.at, other.position)
    assert [record.id for record in records(log)] == [one.id]


def test_an_append_equal_to_the_line_of_another_server_is_no_line(open_log: Open) -> None:
    (first,) = appended(open_log())
    log = open_log()

    (again,) = guarded(log, [Once(log, 0)], [0])

    assert isinstance(again, Stored)
    assert (again.created, again.id, len(records(log))) == (False, first.id, 1)


def test_appends_that_share_keys_and_others_are_all_answered_in_order(open_log: Open) -> None:
    log = open_log()
    numbers = [1, 2, 1, 3, 2, 1]

    stored = guarded(log, [Once(log, number) for number in numbers], numbers)

    assert [one.created for one in stored if isinstance(one, Stored)] == [
        True,
        True,
        False,
        True,
        False,
        False,
    ]
    assert [number_of(record) for record in records(log)] == [1, 2, 3]
    assert [record.seq for record in records(log)] == [1, 2, 3]


def test_a_guard_that_refuses_refuses_its_own_line_alone(open_log: Open) -> None:
    log = open_log()
    refusal = ToolError("conflict", "no")
    guards = [Once(log, 1), Once(log, 2, refusal), Once(log, 3)]

    stored = guarded(log, guards, [1, 2, 3])

    assert stored[1] is refusal
    assert [one.seq for one in stored if isinstance(one, Stored)] == [1, 2]
    assert ([guard.asked for guard in guards], len(records(log))) == ([1, 1, 1], 2)


def test_eight_processes_that_assert_the_same_and_more_agree(
    backend: str, open_log: Open, tmp_path: Path
) -> None:
    running = [server(backend, tmp_path, str(number), 12, CLAIMANT) for number in range(PROCESSES)]
    told = [line.split(" ", 2) for one in running for line in one.communicate(timeout=120)[0].splitlines()]

    found = list(open_log().read("p", "claims"))

    lines = [one.record for one in found if isinstance(one, Line) and isinstance(one.record, Record)]
    statements = [one.event.statement for one in lines if isinstance(one.event, Asserted)]
    assert [one.returncode for one in running] == [0] * PROCESSES
    assert len(found) == len(lines) == len(statements) == len(set(statements)) == 12 * (PROCESSES + 1)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert [line.id for line in lines] == sorted(line.id for line in lines)
    assert {(identity, statement) for identity, _, statement in told} == {
        (line.id, statement) for line, statement in zip(lines, statements, strict=True)
    }
    assert sorted(statement for _, created, statement in told if created == "True") == sorted(statements)


def test_a_server_stopped_while_it_writes_locks_the_others_out_until_it_goes_on(
    backend: str, open_log: Open, tmp_path: Path
) -> None:
    holder = server(backend, tmp_path, "", 0, STOPPER)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)

    with pytest.raises(StoreError) as failure:
        appended(open_log(lock_limit_seconds=0.05))
    holder.send_signal(signal.SIGCONT)
    answer = holder.communicate(timeout=60)[0]

    assert (failure.value.reason, f"process {holder.pid} " in failure.value.message) == ("locked", True)
    assert (answer, holder.returncode, appended(open_log())[0].seq) == ("1\n", 0, 2)
