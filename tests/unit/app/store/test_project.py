"""One open project: begun under its lock, written to, let go of."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
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


def test_a_log_removed_between_two_looks_is_forgotten(opened: Open, tmp_path: Path) -> None:
    class Vanishing(Files):
        def exists(self, path: str) -> bool:
            return path.endswith("claims.jsonl") or super().exists(path)

    project = opened(Vanishing())

    assert project.try_begin() == "begun"
    assert not (tmp_path / "projects" / "p" / "logs").exists()
