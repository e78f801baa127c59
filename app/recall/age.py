"""Ages: by the clock that counts since boot for what this process saw itself, by the wall clock for the rest.

Never negative, whatever the wall clock does. A wall clock that was set moves the ages of what others saw, and of
nothing that this process saw.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

KEPT: Final = 20_000
"""Ids whose moments are remembered; an older one is aged by the wall clock."""


class Moment(NamedTuple):
    """One instant on both clocks."""

    wall_ns: int
    boot_ns: int

    @property
    def offset(self) -> int:
        """Wall clock less boot clock: it changes when the wall clock is set."""
        return self.wall_ns - self.boot_ns


class Witness:
    """When this process saw what it saw: measurements and assertions of its own, by id."""

    def __init__(self) -> None:
        self._boot_ns: dict[str, int] = {}
        self._offsets: tuple[int, int] | None = None

    def saw(self, record_id: str, moment: Moment) -> None:
        """Remember the moment of a record; the oldest of `KEPT` is forgotten."""
        self._boot_ns[record_id] = moment.boot_ns
        least, most = self._offsets or (moment.offset, moment.offset)
        self._offsets = min(least, moment.offset), max(most, moment.offset)
        if len(self._boot_ns) > KEPT:
            del self._boot_ns[next(iter(self._boot_ns))]

    def age(self, record_id: str, wall_us: int, now: Moment) -> dict[str, Any]:
        """`age_seconds` and `age_basis` of a record that says it is from `wall_us`."""
        boot_ns = self._boot_ns.get(record_id)
        if boot_ns is None:
            return {"age_seconds": _seconds(now.wall_ns - wall_us * 1000), "age_basis": "wall_clock"}
        return {"age_seconds": _seconds(now.boot_ns - boot_ns), "age_basis": "monotonic"}

    def doubt_us(self, now: Moment) -> int:
        """By how much ages by the wall clock may be wrong for what this process saw, because the clock was set."""
        if self._offsets is None:
            return 0
        return max(abs(now.offset - offset) for offset in self._offsets) // 1000


def _seconds(nanoseconds: int) -> float:
    return round(max(0, nanoseconds) / 1e9, 3)
