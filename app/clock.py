"""The only place that asks what time it is: wall time for people, monotonic time for durations."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the rest of the product may know about time; tests hand in one that they steer."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970 (UTC); may step in either direction."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds that only grow; the base of every duration and deadline."""
        ...

    def boottime_ns(self) -> int:
        """Like monotonic, but counting while the machine sleeps; the base of ages."""
        ...


class SystemClock:
    """The clocks of this machine."""

    def wall_ns(self) -> int:
        return time.time_ns()

    def monotonic_ns(self) -> int:
        return time.monotonic_ns()

    def boottime_ns(self) -> int:
        clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        return time.clock_gettime_ns(clock)


def utc_text(wall_ns: int) -> str:
    """The stored form of an instant: `2026-09-22T08:14:03.482119Z`, microseconds, UTC (RFC 3339)."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    instant = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000, tzinfo=None)
    return f"{instant.isoformat(timespec='microseconds')}Z"


def local_text(wall_ns: int) -> str:
    """The answered form of an instant: milliseconds and the offset of the server's zone (RFC 3339)."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    instant = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    return instant.astimezone().isoformat(timespec="milliseconds")
