"""How disturbed a reading is: measurements at once, and how late our event loop ran meanwhile."""

from __future__ import annotations

import asyncio

from app.clock import Clock

INTERVAL_NS = 10_000_000
"""Between two looks at the loop: 0.1 % of a core while something is measured, nothing otherwise."""


class Load:
    """Counts measurements and samples the lag of the loop while there are any."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: set[Reading] = set()
        self._due_ns = 0
        self._ticking: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> Reading:
        """A measurement begins."""
        reading = Reading(self)
        self._open.add(reading)
        count = len(self._open)
        for each in self._open:
            each.concurrent = max(each.concurrent, count)
        loop = asyncio.get_running_loop()
        if self._ticking is None or self._loop is not loop:
            self._loop = loop
            self._schedule(loop)
        return reading

    def close(self, reading: Reading) -> None:
        """A measurement is over; what the loop owes by now counts, and without any the looking stops."""
        self._look()
        self._open.discard(reading)
        if not self._open and self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due_ns = self._clock.monotonic_ns() + INTERVAL_NS
        self._ticking = loop.call_later(INTERVAL_NS / 1e9, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._look()
        self._schedule(loop)

    def _look(self) -> None:
        lag_ns = self._clock.monotonic_ns() - self._due_ns
        if lag_ns > 0:
            for reading in self._open:
                reading.lag_ns = max(reading.lag_ns, lag_ns)


class Reading:
    """One measurement: the most that ran at once while it did, and the longest lag."""

    __slots__ = ("_load", "concurrent", "lag_ns")

    def __init__(self, load: Load) -> None:
        self._load = load
        self.concurrent = 1
        self.lag_ns = 0

    def end(self, late_ns: int = 0) -> dict[str, float | int]:
        """`{concurrent, loop_lag_max_ms}`; `late_ns` is how late the measurement itself found bytes to be read."""
        self._load.close(self)
        return {
            "concurrent": self.concurrent,
            "loop_lag_max_ms": max(self.lag_ns, late_ns) // 1000 / 1000,
        }
