"""Killed servers, failing devices, power that is cut: nothing acknowledged is lost, nothing half is served.

`killed(path, rounds)` is also what `tests/bench/bench_crashes.py` calls, with more rounds.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError, ToolError
from app.recall.age import Witness
from app.recall.projection import VERSION, row
from app.redact import Redactor
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import Recipe
from app.store.log import Damage, Line
from app.store.registry import Registry
from app.store.scripted import ScriptedFiles
from app.tools.recall import Archive, recall_tools
from app.tools.tool import Context, validate

ROOT = Path(__file__).parents[2]
ASSERTS = 2_000
PROGRAM = """
import asyncio, sys
from app.clock import SystemClock
from app.main import Application
from app.settings import read_settings

application = Application(read_settings())
assert application.settings.data_dir == sys.argv[1]
first = int(sys.argv[2])


async def one(number):
    said = f"claim {number} " + "ü" * (number % 300)
    claim = {"project": "p", "statement": said, "observed_by": "me"}
    answer = await application.call("facts.recall.assert", claim)
    print("asserted", number, answer["claim_id"], flush=True)
    if number % 7 == 0:
        gone = {"project": "p", "claim_id": answer["claim_id"], "reason": "wrong"}
        await application.call("facts.recall.retract", gone)
        print("retracted", number, answer["claim_id"], flush=True)


async def main():
    print("ready", flush=True)
    for begin in range(first, first + int(sys.argv[3]), 8):
        await asyncio.gather(*(one(number) for number in range(begin, begin + 8)))


asyncio.run(main())
application.close()
"""


class Desk:
    """The recall tools over one directory and one device."""

    def __init__(self, path: Path, files: Files | None = None) -> None:
        self.reported: list[Damage] = []
        device = files or Files()
        self.log = FileLog(str(path), SystemClock(), files=device, report=self.reported.append)
        root = DataDirectory(str(path), device)
        recipe = Recipe("words", VERSION, row)
        self.registry = Registry(self.log, root, device, recipe, self.reported.append, print)
        archive = Archive(self.registry, SystemClock(), Redactor(b"k"), Witness(), 1e6, "words", str)
        self._tools = {tool.name.rpartition(".")[2]: tool for tool in recall_tools(lambda: archive)}

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        tool = self._tools[name]
        given = {"project": "p", **arguments}

        async def run() -> dict[str, Any]:
            return await tool.run(validate(tool.params, given), given, Context(print))

        return asyncio.run(run())

    def attempt(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer, or an empty one where the device failed."""
        try:
            return self.call(name, **arguments)
        except (StoreError, ToolError):
            return {}

    def all(self, **asked: Any) -> dict[str, str]:
        """The statements of all claims that a query finds, by their ids."""
        found: dict[str, str] = {}
        for _ in range(10_000):
            answer = self.call("query", limit=100, **asked)
            found |= {claim["claim_id"]: claim["statement"] for claim in answer["claims"]}
            if answer["next_cursor"] is None:
                return found
            asked["cursor"] = answer["next_cursor"]
        raise AssertionError("the pages have no end")

    def close(self) -> None:
        self.registry.close()
        self.log.close()


def statement(number: int) -> str:
    return f"claim {number} " + "ü" * (number % 300)


def killed(path: Path, rounds: int) -> int:
    """That many servers one after another on one directory, each killed at a random point of 2,000 asserts.

    Answers how many claims they had acknowledged.
    """
    chance = random.Random(rounds)  # noqa: S311 - the same points each time
    asserted: dict[str, str] = {}
    retracted: set[str] = set()
    for number in range(rounds):
        first = number * ASSERTS
        for what, which, identity in _killed(path, first, chance.randrange(ASSERTS)):
            if what == "asserted":
                asserted[identity] = statement(int(which))
            else:
                retracted.add(identity)
        _check(path, asserted, retracted, (number + 1) * ASSERTS)
    return len(asserted)


def _killed(path: Path, first: int, answers: int) -> list[list[str]]:
    """What one server acknowledged before it was killed, which was after so many answers."""
    victim = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), str(first), str(ASSERTS)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PLINTH_DATA_DIR": str(path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdout is not None
    told = [victim.stdout.readline() for _ in range(answers + 1)]
    victim.kill()
    told += victim.communicate()[0].splitlines(keepends=True)
    assert told[0] == "ready\n"
    return [line.split() for line in told[1:] if line.endswith("\n")]


def _check(path: Path, asserted: dict[str, str], retracted: set[str], numbers: int) -> None:
    """The next start: all that was acknowledged is served, all that is served is whole, and it goes on."""
    desk = Desk(path)
    everything = desk.all(retracted="include")
    gone = desk.all(retracted="only")
    assert asserted.items() <= everything.items()
    assert set(everything.values()) <= {statement(number) for number in range(numbers)} | set(
        asserted.values()
    )
    assert len(set(everything.values())) == len(everything)
    assert retracted <= gone.keys()
    assert desk.all() == {identity: said for identity, said in everything.items() if identity not in gone}
    new = desk.call("assert", statement=f"the start after {numbers}", observed_by="me")
    asserted[new["claim_id"]] = new["statement"]
    again = [desk.call("assert", statement=said, observed_by="me") for said in list(desk.all().values())[:2]]
    assert (new["created"], [one["created"] for one in again]) == (True, [False] * len(again))
    lines = [found for found in desk.log.read("p", "claims") if isinstance(found, Line)]
    assert [line.record.seq for line in lines] == list(range(1, len(lines) + 1))
    desk.close()


@pytest.mark.slow
def test_servers_killed_at_random_points_lose_nothing_that_they_acknowledged(tmp_path: Path) -> None:
    assert killed(tmp_path, 5) > 5


TAKES: list[tuple[str, dict[str, Any]]] = [
    ("assert", {"statement": "one"}),
    ("assert", {"statement": "two", "evidence": [{"type": "note", "text": "ü" * 300}]}),
    ("retract", {"of": "one", "reason": "wrong"}),
    ("assert", {"statement": "two", "evidence": [{"type": "note", "text": "ü" * 300}]}),
    ("assert", {"statement": "one"}),
    ("assert", {"statement": "three", "idempotency_key": "k"}),
    ("retract", {"of": "three", "reason": "wrong"}),
]
"""A short scenario; `of` names what is taken back, where that was acknowledged."""
STATEMENTS = {"one", "two", "three"}


class Told:
    """What a server acknowledged: the statements by their ids, and which of them it took back."""

    def __init__(self) -> None:
        self.asserted: dict[str, str] = {}
        self.retracted: set[str] = set()

    def play(self, desk: Desk) -> None:
        """The scenario, whatever the device does; queries in between bring the index up to the last line."""
        for name, given in TAKES:
            if name == "assert":
                answer = desk.attempt("assert", observed_by="me", **given)
                self.asserted |= {answer["claim_id"]: given["statement"]} if answer else {}
            else:
                self._take_back(desk, given["of"], given["reason"])
            desk.attempt("query")

    def _take_back(self, desk: Desk, of: str, reason: str) -> None:
        for identity, said in self.asserted.items():
            if said == of and desk.attempt("retract", claim_id=identity, reason=reason):
                self.retracted.add(identity)


def check_short(path: Path, told: Told) -> None:
    """The next start, on a device that works."""
    desk = Desk(path)
    everything, gone = desk.all(retracted="include"), desk.all(retracted="only")
    assert told.asserted.items() <= everything.items()
    assert set(everything.values()) <= STATEMENTS
    assert told.retracted <= gone.keys()
    for identity in everything:
        events = desk.call("history", claim_id=identity)["events"]
        assert [event["event"]["type"] for event in events] == ["asserted", "retracted"][: len(events)]
        assert (len(events) == 2) is (identity in gone)
    after = Told()
    after.play(desk)
    assert set(after.asserted.values()) == STATEMENTS
    standing = sorted(desk.all().values())
    assert standing == ["one", "two"]
    lines = [found for found in desk.log.read("p", "claims") if isinstance(found, Line)]
    assert [line.record.seq for line in lines] == list(range(1, len(lines) + 1))
    desk.close()


def calls(path: Path, name: str) -> int:
    """How often the scenario makes a call of the device."""
    device = ScriptedFiles()
    desk = Desk(path, device)
    Told().play(desk)
    desk.close()
    assert device.calls[name]
    return device.calls[name]


@pytest.mark.parametrize(
    "fault",
    [OSError(errno.ENOSPC, "full"), OSError(errno.EIO, "broken"), 0, 1, 40],
    ids=["full", "broken", "nothing taken", "one byte taken", "a piece taken"],
)
def test_a_write_that_fails_at_any_point_loses_nothing_that_was_acknowledged(
    tmp_path: Path, fault: OSError | int
) -> None:
    for number in range(calls(tmp_path / "whole", "write")):
        path = tmp_path / str(number)
        desk = Desk(path, ScriptedFiles(write=[*[None] * number, fault], free_bytes=[0]))
        told = Told()
        told.play(desk)
        desk.close()

        check_short(path, told)


@pytest.mark.parametrize("name", ["fdatasync", "fsync", "pwrite", "pread", "open", "unlock"])
def test_any_other_call_that_fails_at_any_point_loses_nothing_that_was_acknowledged(
    tmp_path: Path, name: str
) -> None:
    for number in range(calls(tmp_path / "whole", name)):
        path = tmp_path / str(number)
        desk = Desk(path, ScriptedFiles(**{name: [*[None] * number, OSError(errno.EIO, "broken")]}))
        told = Told()
        told.play(desk)
        desk.close()

        check_short(path, told)


class PowerCut(Files):
    """A device that dies with one call, and forgets what was not synced: names as well as bytes.

    Of the bytes it keeps the part `kept`, from 0 to 1, that an unlucky machine may have written all the same.
    """

    def __init__(self, calls: int, kept: float) -> None:
        self.left = calls
        self._kept = kept
        self._synced: dict[int, int] = {}
        self._paths: dict[int, str] = {}
        self._names: dict[tuple[int, str], str] = {}

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        self._live()
        descriptor = super().open(path, flags, mode, parent=parent)
        if flags & os.O_CREAT and parent is not None:
            self._names[os.fstat(parent).st_ino, path] = os.readlink(f"/proc/self/fd/{descriptor}")
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            self._paths[status.st_ino] = os.readlink(f"/proc/self/fd/{descriptor}")
            self._synced.setdefault(status.st_ino, 0)
        return descriptor

    def mkdir(self, name: str, parent: int) -> None:
        self._live()
        super().mkdir(name, parent)
        place = os.path.join(os.readlink(f"/proc/self/fd/{parent}"), name)
        self._names[os.fstat(parent).st_ino, name] = place

    def write(self, descriptor: int, data: bytes) -> int:
        self._live()
        return super().write(descriptor, data)

    def fdatasync(self, descriptor: int) -> None:
        self._live()
        super().fdatasync(descriptor)
        self._sync(descriptor)

    def fsync(self, descriptor: int) -> None:
        self._live()
        super().fsync(descriptor)
        self._sync(descriptor)

    def cut(self) -> None:
        """What is left when the power comes back."""
        for place in self._names.values():
            if os.path.isdir(place):
                shutil.rmtree(place)
            elif os.path.exists(place):
                os.unlink(place)
        for inode, path in self._paths.items():
            if path.endswith(".jsonl") and os.path.exists(path):
                size, synced = os.stat(path).st_size, self._synced[inode]
                os.truncate(path, synced + int((size - synced) * self._kept))

    def _sync(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self._synced[status.st_ino] = status.st_size
        for key in [key for key in self._names if key[0] == status.st_ino]:
            del self._names[key]

    def _live(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.EIO, "the power is gone")


@pytest.mark.parametrize("kept", [0.0, 0.4])
def test_power_cut_at_any_point_loses_nothing_that_was_acknowledged(tmp_path: Path, kept: float) -> None:
    whole = PowerCut(10**9, kept)
    desk = Desk(tmp_path / "whole", whole)
    Told().play(desk)
    desk.close()

    for number in range(10**9 - whole.left):
        path = tmp_path / str(number)
        device = PowerCut(number, kept)
        desk, told = Desk(path, device), Told()
        told.play(desk)
        desk.close()
        device.cut()

        check_short(path, told)
