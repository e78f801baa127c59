"""Work beside the loop: what it returns, what it raises, and that the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import threading

import pytest

from app.tools.aside import aside


def test_the_result_comes_back_from_a_thread_that_holds_up_no_exit() -> None:
    threads = []

    def work(number: int) -> int:
        threads.append(threading.current_thread())
        return number + 1

    assert asyncio.run(aside(work, 1)) == 2
    assert [thread.daemon for thread in threads] == [True]


def test_what_the_work_raises_is_raised_to_whoever_waits() -> None:
    def work() -> None:
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        asyncio.run(aside(work))


def test_the_loop_goes_on_while_the_work_is_done() -> None:
    gate = threading.Event()

    async def both() -> bool:
        waiting = asyncio.ensure_future(aside(gate.wait, 30))
        await asyncio.sleep(0)
        gate.set()
        return await waiting

    assert asyncio.run(both()) is True


def test_nobody_waits_for_work_whose_caller_is_gone() -> None:
    gate, done = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait(30)
        done.set()

    async def leave() -> None:
        task = asyncio.ensure_future(aside(work))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    gate.set()

    assert done.wait(30)
