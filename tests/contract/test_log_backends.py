"""What every log backend promises, over all backends: durable when acknowledged, in order, shared, never cut."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.records.codec import Record, body
from app.records.events import Measured
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


def server(backend: str, path: Path, name: str, count: int) -> subprocess.Popen[str]:
    program = PROGRAM.format(open=OPEN[backend])
    command = [sys.executable, "-c", program, str(path), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_what_is_acknowledged_is_read_back_in_order(open_log: Open) -> None:
    log = open_log()

    stored = appended(log, 20)

    assert [(record.seq, record.id, record.at) for record in records(log)] == [
        (one.seq, one.id, one.at) for one in stored
    ]
    events = [record.event for record in records(log)]
    assert [each.arguments for each in events if isinstance(each, Measured)] == [
        {"number": n} for n in range(20)
    ]


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
