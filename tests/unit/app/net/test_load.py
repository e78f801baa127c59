"""How disturbed a reading is: what ran at once, and the lag of the loop."""

from __future__ import annotations

import asyncio

from app.net.load import INTERVAL_NS, Load, Peaks


class SteeredClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    wall_ns = boottime_ns = monotonic_ns

    def sync(self) -> tuple[bool | None, int | None]:
        return None, None


def test_the_most_that_ran_at_once_is_counted_for_each() -> None:
    async def run() -> list[float | int]:
        load = Load(SteeredClock())
        first = load.begin()
        second = load.begin()
        second.end()
        third = load.begin()
        alone = [third.end(), first.end(), load.begin().end()]
        return [each["concurrent"] for each in alone]

    assert asyncio.run(run()) == [2, 2, 1]


def test_a_peak_before_the_beginning_is_not_counted() -> None:
    async def run() -> list[float | int]:
        load = Load(SteeredClock())
        early = [load.begin() for _ in range(5)]
        for each in early[1:]:
            each.end()
        late = load.begin()
        return [late.end()["concurrent"], early[0].end()["concurrent"]]

    assert asyncio.run(run()) == [2, 5]


def test_peaks_are_the_highest_numbers_since_each_mark() -> None:
    numbers, peaks = [3, 1, 2, 2, 9, 4, 4, 5, 1, 0], Peaks()
    for number in numbers:
        peaks.note(number)

    found = [peaks.since(mark) for mark in range(len(numbers))]

    assert found == [max(numbers[mark:]) for mark in range(len(numbers))]


def test_numbers_that_come_again_and_again_take_no_room() -> None:
    peaks = Peaks()
    for number in [64, 63] * 1000:
        peaks.note(number)

    assert peaks._kept == [64, 63]


def test_a_look_that_is_overdue_at_the_end_is_the_lag() -> None:
    async def run() -> dict[str, float | int]:
        clock = SteeredClock()
        reading = Load(clock).begin()
        clock.now_ns = INTERVAL_NS + 7_000_000
        return reading.end()

    assert asyncio.run(run()) == {"concurrent": 1, "loop_lag_max_ms": 7.0}


def test_bytes_that_waited_to_be_read_are_a_lag_too() -> None:
    async def run() -> dict[str, float | int]:
        return Load(SteeredClock()).begin().end(late_ns=1_234_567)

    assert asyncio.run(run())["loop_lag_max_ms"] == 1.234


def test_a_loop_that_was_held_up_shows_in_the_reading() -> None:
    async def run() -> float | int:
        clock = SteeredClock()
        reading = Load(clock).begin()
        clock.now_ns = INTERVAL_NS + 50_000_000
        while not reading.lag_ns:  # until the timer of the loop fires, which finds the time gone
            await asyncio.sleep(0)
        clock.now_ns += 1
        return reading.end()["loop_lag_max_ms"]

    assert asyncio.run(asyncio.wait_for(run(), 5)) == 50.0


def test_nothing_is_left_in_the_loop_when_nothing_is_measured() -> None:
    async def run() -> list[asyncio.TimerHandle]:
        Load(SteeredClock()).begin().end()
        timers: list[asyncio.TimerHandle] = vars(asyncio.get_running_loop())["_scheduled"]
        return [timer for timer in timers if not timer.cancelled()]

    assert asyncio.run(run()) == []


def test_another_loop_is_looked_at_anew() -> None:
    load = Load(SteeredClock())

    async def run() -> float | int:
        return load.begin().end()["concurrent"]

    assert [asyncio.run(run()), asyncio.run(run())] == [1, 1]
