"""How disturbed a reading is: measurements at once, and how late our event loop ran meanwhile."""

from __future__ import annotations

import asyncio
from bisect import bisect_left

from app.clock import Clock

INTERVAL_NS = 10_000_000
"""Between two looks at the loop: 0.1 % of a core while something is measured, nothing otherwise."""


class Load:
    """Counts measurements and samples the lag of the loop while there are any."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: set[Reading] = set()
        self._counts = Peaks()
        self._due_ns = 0
        self._ticking: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> Reading:
        """A measurement begins."""
        reading = Reading(self, self._counts.noted)
        self._open.add(reading)
        self._counts.note(len(self._open))
        loop = asyncio.get_running_loop()
        if self._ticking is None or self._loop is not loop:
            self._loop = loop
            self._schedule(loop)
        return reading

    def close(self, reading: Reading) -> None:
        """A measurement is over; what the loop owes by now counts, and without any the looking stops."""
        reading.concurrent = self._counts.since(reading.mark)
        reading.lag_ns = max(reading.lag_ns, self._clock.monotonic_ns() - self._due_ns)
        self._open.discard(reading)
        if not self._open and self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due_ns = self._clock.monotonic_ns() + INTERVAL_NS
        self._ticking = loop.call_later(INTERVAL_NS / 1e9, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        lag_ns = self._clock.monotonic_ns() - self._due_ns
        for reading in self._open:
            reading.lag_ns = max(reading.lag_ns, lag_ns)
        self._schedule(loop)


class Peaks:
    """The highest of a series of numbers since any moment of it, at a cost that does not grow with who asks.

    Kept are only numbers that no later one reached: they fall from the first to the last.
    """

    def __init__(self) -> None:
        self.noted = 0
        """How many numbers there were; as a mark, the moment before the next one."""
        self._at: list[int] = []
        self._kept: list[int] = []

    def note(self, number: int) -> None:
        """The next number."""
        while self._kept and self._kept[-1] <= number:
            self._kept.pop()
            self._at.pop()
        self._kept.append(number)
        self._at.append(self.noted)
        self.noted += 1

    def since(self, mark: int) -> int:
        """The highest from that mark on, behind which there is a number."""
        return self._kept[bisect_left(self._at, mark)]


class Reading:
    """One measurement: the most that ran at once while it did, and the longest lag."""

    __slots__ = ("_load", "concurrent", "lag_ns", "mark")

    def __init__(self, load: Load, mark: int) -> None:
        self._load = load
        self.mark = mark
        self.concurrent = 1
        self.lag_ns = 0

    def end(self, late_ns: int = 0) -> dict[str, float | int]:
        """`{concurrent, loop_lag_max_ms}`; `late_ns` is how late the measurement itself found bytes to be read."""
        self._load.close(self)
        return {
            "concurrent": self.concurrent,
            "loop_lag_max_ms": max(self.lag_ns, late_ns) // 1000 / 1000,
        }
