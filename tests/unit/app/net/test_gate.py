"""Room for so many at once, and no waiting beyond the deadline."""

from __future__ import annotations

import asyncio

import pytest

from app.clock import SystemClock
from app.errors import ToolError
from app.net.gate import Gate

CLOCK = SystemClock()


def within(seconds: float) -> int:
    return CLOCK.monotonic_ns() + round(seconds * 1_000_000_000)


def test_so_many_run_at_once_and_no_more() -> None:
    async def run() -> int:
        gate, running, most = Gate(2, CLOCK), 0, 0

        async def one() -> None:
            nonlocal running, most
            async with gate.slot(within(5)):
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1

        await asyncio.gather(*(one() for _ in range(9)))
        return most

    assert asyncio.run(run()) == 2


def test_a_wait_that_reaches_the_deadline_is_busy() -> None:
    async def run() -> ToolError:
        gate = Gate(1, CLOCK)
        async with gate.slot(within(5)):
            with pytest.raises(ToolError) as caught:
                async with gate.slot(within(0.01)):
                    raise AssertionError("there is no room")
        return caught.value

    error = asyncio.run(run())

    assert (error.code, error.message) == (
        "busy",
        "1 measurements are running, and none ended before the deadline of this one",
    )


def test_a_deadline_that_is_over_still_takes_room_that_is_there() -> None:
    async def run() -> bool:
        async with Gate(1, CLOCK).slot(within(-1)):
            return True

    assert asyncio.run(run())


def test_a_failure_and_a_cancellation_give_the_room_back() -> None:
    async def run() -> bool:
        gate = Gate(1, CLOCK)
        with pytest.raises(ValueError, match="broken"):
            async with gate.slot(within(5)):
                raise ValueError("broken")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), gate.slot(within(5)):
                await asyncio.Event().wait()
        async with gate.slot(within(5)):
            return True

    assert asyncio.run(run())


def test_someone_who_was_cancelled_while_waiting_takes_no_room() -> None:
    async def run() -> bool:
        gate = Gate(1, CLOCK)
        async with gate.slot(within(5)):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), gate.slot(within(5)):
                    raise AssertionError("there is no room")
        async with gate.slot(within(5)):
            return True

    assert asyncio.run(run())


def test_zero_means_that_there_is_always_room() -> None:
    async def run() -> int:
        gate, inside = Gate(0, CLOCK), 0
        async with gate.slot(0), gate.slot(0), gate.slot(0):
            inside += 1
        return inside

    assert asyncio.run(run()) == 1
