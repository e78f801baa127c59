"""The writer's thread: it starts late, ends clean, and leaves nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.store.file import FileLog
from app.store.log import Stored
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

    assert [stored.seq for stored in append(FileLog(str(tmp_path), SystemClock()))] == [2]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_breaks_leaves_nobody_waiting(measured: bytes, tmp_path: Path) -> None:
    class Breaking(ScriptedFiles):
        def fdatasync(self, descriptor: int) -> None:
            raise ArithmeticError("a bug")

    log = FileLog(str(tmp_path), SystemClock(), files=Breaking())

    async def several() -> list[object]:
        calls = [log.append("p", "observations", "o", measured) for _ in range(5)]
        return list(await asyncio.gather(*calls, return_exceptions=True))

    outcomes = asyncio.run(several())
    log.close()

    assert {(type(one), getattr(one, "reason", None)) for one in outcomes} == {(StoreError, "closed")}


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
