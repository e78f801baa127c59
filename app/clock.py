"""The only place that asks what time it is: wall time for people, monotonic time for durations."""

from __future__ import annotations

import struct
import time
from datetime import UTC, datetime
from typing import Protocol

SYNC_KEPT_NS = 1_000_000_000
"""How long the answer about synchronisation serves: it changes over minutes."""
_TIMEX = struct.Struct("@Iqqqqi")
_ESTERROR, _STATUS = 4, 5
_UNSYNCHRONISED = 0x40
_TIME_ERROR = 5


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

    def sync(self) -> tuple[bool | None, int | None]:
        """Whether the wall clock is synchronised, and its estimated error in microseconds; None: nobody can tell."""
        ...


class SystemClock:
    """The clocks of this machine."""

    def __init__(self) -> None:
        self._sync: tuple[bool | None, int | None] = (None, None)
        self._asked_ns = 0

    def wall_ns(self) -> int:
        return time.time_ns()

    def monotonic_ns(self) -> int:
        return time.monotonic_ns()

    def boottime_ns(self) -> int:
        clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        return time.clock_gettime_ns(clock)

    def sync(self) -> tuple[bool | None, int | None]:
        now_ns = time.monotonic_ns()
        if not self._asked_ns or now_ns - self._asked_ns > SYNC_KEPT_NS:
            self._sync = kernel_sync()
            self._asked_ns = now_ns
        return self._sync


def kernel_sync() -> tuple[bool | None, int | None]:
    """What the kernel says of its clock (adjtimex(2), asked without changing anything); None where it says nothing."""
    import ctypes  # the first measurement needs it, the start does not

    try:
        adjtimex = ctypes.CDLL(None).adjtimex
    except (AttributeError, OSError):
        return None, None  # another C library
    timex = ctypes.create_string_buffer(256)
    state = adjtimex(timex)
    if state < 0:
        return None, None  # a sandbox forbids to ask
    told = _TIMEX.unpack_from(timex)
    is_synced = state != _TIME_ERROR and not told[_STATUS] & _UNSYNCHRONISED
    return is_synced, told[_ESTERROR]


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
