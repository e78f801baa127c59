"""One open project: begun under its lock, written to, let go of."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import FactsError, StoreError, ToolError
from app.records.codec import storable
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.log import Damage, LogName, Stored
from app.store.pending import Pending
from app.store.project import Project
from app.store.scripted import ScriptedFiles

Open = Callable[..., Project]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """`opened(files, report)`: project `p` in the test's directory."""
    made: list[Project] = []

    def make(files: Files | None = None, report: Callable[[Damage], None] = print) -> Project:
        device = files or Files()
        root = DataDirectory(str(tmp_path), device)
        made.append(Project("p", root, device, SystemClock(), os.urandom, report))
        return made[-1]

    yield make
    for project in made:
        project.close()


@pytest.fixture
def pending(measured: bytes) -> Iterator[Callable[[LogName], Pending]]:
    """`pending(log)`: a line that waits."""
    loop = asyncio.new_event_loop()
    yield lambda log: Pending("p", log, log[0], storable(measured), loop)
    loop.close()


def test_only_one_can_have_begun(opened: Open) -> None:
    one, other = opened(), opened()

    states = [one.try_begin(), other.try_begin()]
    one.end()
    states.append(other.try_begin())

    assert states == ["begun", "held", "begun"]


def test_a_project_that_was_moved_away_is_noticed_and_unlocked(opened: Open, tmp_path: Path) -> None:
    project = opened()
    (tmp_path / "projects" / "p").rename(tmp_path / "moved")

    assert (project.try_begin(), project.try_begin()) == ("moved", "moved")


def test_the_lock_is_let_go_when_the_beginning_fails(opened: Open, tmp_path: Path) -> None:
    project = opened(ScriptedFiles(pwrite=[OSError(28, "full")]))

    with pytest.raises(OSError, match="full"):
        project.try_begin()

    assert opened().try_begin() == "begun"


def test_the_lines_of_one_log_are_one_write(
    opened: Open, pending: Callable[[LogName], Pending], tmp_path: Path
) -> None:
    device = ScriptedFiles()
    project = opened(device)
    waiting = [pending("observations"), pending("claims"), pending("observations")]
    project.try_begin()

    unsynced = project.write(waiting)

    assert [(batch.log.name, len(batch.waiting)) for batch in unsynced] == [
        ("observations", 2),
        ("claims", 1),
    ]
    assert device.calls["write"] == 2
    outcomes = [one.outcome for one in waiting if isinstance(one.outcome, Stored)]
    assert [(one.log, one.seq) for one in outcomes] == [
        ("observations", 1),
        ("claims", 1),
        ("observations", 2),
    ]


def test_one_log_may_fail_while_the_other_is_written(
    opened: Open, pending: Callable[[LogName], Pending]
) -> None:
    project = opened(ScriptedFiles(write=[OSError(5, "broken")]))
    waiting = [pending("observations"), pending("claims")]
    project.try_begin()

    unsynced = project.write(waiting)

    assert [batch.log.name for batch in unsynced] == ["claims"]
    assert [type(one.outcome).__name__ for one in waiting] == ["StoreError", "Stored"]


class Asked:
    """A guard that keeps what it saw in the log when it was asked, and answers as it is told."""

    def __init__(self, path: Path, keys: str = "", answer: Stored | FactsError | None = None) -> None:
        self.keys = frozenset(key.encode() for key in keys)
        self.saw: int | None = None
        self._path = path / "projects" / "p" / "logs" / "claims.jsonl"
        self._answer = answer

    def decide(self) -> Stored | None:
        self.saw = self._path.read_bytes().count(b"\n")
        if isinstance(self._answer, FactsError):
            raise self._answer
        return self._answer


@pytest.fixture
def guarded(measured: bytes) -> Iterator[Callable[[Asked], Pending]]:
    """`guarded(guard)`: a line for the claims that waits, with this guard."""
    loop = asyncio.new_event_loop()
    yield lambda guard: Pending("p", "claims", "c", storable(measured), loop, guard)
    loop.close()


@pytest.mark.parametrize(
    ("keys", "saw", "writes"),
    [
        pytest.param(["a", "b", "c"], [0, 0, 0], 1, id="about different things"),
        pytest.param(["a", "a", "a"], [0, 1, 2], 3, id="about the same thing"),
        pytest.param(["a", "b", "a"], [0, 0, 2], 2, id="two about the same thing"),
        pytest.param(["a", "ab", "b"], [0, 1, 2], 3, id="a chain"),
        pytest.param(["", "", ""], [0, 0, 0], 1, id="about nothing"),
    ],
)
def test_who_is_about_the_same_thing_is_asked_when_the_first_is_written(
    opened: Open,
    guarded: Callable[[Asked], Pending],
    tmp_path: Path,
    keys: list[str],
    saw: list[int],
    writes: int,
) -> None:
    device = ScriptedFiles()
    project = opened(device)
    guards = [Asked(tmp_path, each) for each in keys]
    project.try_begin()

    project.write([guarded(guard) for guard in guards])

    assert ([guard.saw for guard in guards], device.calls["write"]) == (saw, writes)


def test_what_a_guard_answers_is_the_outcome_and_the_others_are_written(
    opened: Open, guarded: Callable[[Asked], Pending], tmp_path: Path
) -> None:
    stands = Stored(7, "c_x", "then", "claims", 99, created=False)
    refusals = [ToolError("conflict", "twice"), StoreError("io", "broken")]
    project = opened()
    waiting = [guarded(Asked(tmp_path, answer=answer)) for answer in (stands, None, *refusals, None)]
    project.try_begin()

    (unsynced,) = project.write(waiting)

    outcomes = [one.outcome for one in waiting]
    assert [outcomes[0], *outcomes[2:4]] == [stands, *refusals]
    assert [one.seq for one in outcomes if isinstance(one, Stored) and one.created] == [1, 2]
    assert set(unsynced.waiting) == {waiting[0], waiting[1], waiting[4]}


def test_a_line_that_stands_is_synced_although_nothing_is_written(
    opened: Open, guarded: Callable[[Asked], Pending], tmp_path: Path
) -> None:
    device = ScriptedFiles()
    project = opened(device)
    one = guarded(Asked(tmp_path, answer=Stored(7, "c_x", "then", "claims", 99, created=False)))
    project.try_begin()

    (unsynced,) = project.write([one])

    assert (unsynced.waiting, unsynced.log.name, unsynced.written.data) == ([one], "claims", b"")
    assert device.calls["write"] == 0


def test_a_round_that_cannot_be_written_fails_alone(
    opened: Open, guarded: Callable[[Asked], Pending], tmp_path: Path
) -> None:
    project = opened(ScriptedFiles(write=[None, OSError(28, "full")]))
    waiting = [guarded(Asked(tmp_path, "a")) for _ in range(3)]
    project.try_begin()

    project.write(waiting)

    assert [getattr(one.outcome, "seq", getattr(one.outcome, "reason", None)) for one in waiting] == [
        1,
        "no_space",
        2,
    ]


def test_a_short_write_is_looked_at_before_the_next_round(
    opened: Open, guarded: Callable[[Asked], Pending], tmp_path: Path
) -> None:
    reported: list[Damage] = []
    project = opened(ScriptedFiles(write=[30], free_bytes=[0]), reported.append)
    waiting = [guarded(Asked(tmp_path, "a")) for _ in range(2)]
    project.try_begin()

    project.write(waiting)

    assert [getattr(one.outcome, "seq", getattr(one.outcome, "reason", None)) for one in waiting] == [
        "no_space",
        1,
    ]
    assert [(one.length, one.reason) for one in reported] == [(30, "torn")]


def test_a_log_removed_between_two_looks_is_forgotten(opened: Open, tmp_path: Path) -> None:
    class Vanishing(Files):
        def exists(self, path: str) -> bool:
            return path.endswith("claims.jsonl") or super().exists(path)

    project = opened(Vanishing())

    assert project.try_begin() == "begun"
    assert not (tmp_path / "projects" / "p" / "logs").exists()
