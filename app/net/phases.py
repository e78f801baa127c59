"""A stop watch of one hop: which phase runs, how long each took, and null for what did not happen."""

from __future__ import annotations

from typing import Literal

from app.clock import Clock

TimedPhase = Literal["resolve", "connect", "tls", "send", "first_byte", "head", "body"]
TIMED: tuple[TimedPhase, ...] = ("resolve", "connect", "tls", "send", "first_byte", "head", "body")
_NAMES: tuple[tuple[TimedPhase, str], ...] = tuple((phase, f"{phase}_ms") for phase in TIMED)


class Phases:
    """Durations of the phases of one hop, from one start; phases do not overlap.

    Moments come from two clocks, the kernel's stamps and ours: one that lies before the last shortens the phase before,
    and never goes back further than that.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spent_ns: dict[TimedPhase, int] = {}
        self._since_ns = clock.monotonic_ns()
        self._end_ns: int | None = None
        self.started_ns = self._since_ns
        self.current: TimedPhase | None = None
        self._before: TimedPhase | None = None

    def begin(self, phase: TimedPhase, at_ns: int | None = None) -> None:
        """End the running phase and begin `phase`, both at `at_ns` (default: now)."""
        self.pause(at_ns)
        self.current = phase

    def pause(self, at_ns: int | None = None) -> None:
        """End the running phase; time until the next `begin` counts as `other`."""
        at = self._clock.monotonic_ns() if at_ns is None else at_ns
        if at < self._since_ns:
            at = self._take_back(at)
        if self.current is not None:
            self._spent_ns[self.current] = self._spent_ns.get(self.current, 0) + at - self._since_ns
            self._before = self.current
        self.current = None
        self._since_ns = at

    def _take_back(self, at_ns: int) -> int:
        """Let the phase before end earlier: an answer can arrive before the call that sent its request returns."""
        before = self._before if self.current is not None else None
        spent = self._spent_ns.get(before, 0) if before is not None else 0
        back = min(spent, self._since_ns - at_ns)
        if before is not None:
            self._spent_ns[before] = spent - back
        self._since_ns -= back
        return self._since_ns

    def finish(self, at_ns: int | None = None) -> None:
        """End the running phase and the hop; later calls change nothing."""
        if self._end_ns is None:
            self.pause(at_ns)
            self._end_ns = self._since_ns

    def offset_ms(self) -> float:
        """Milliseconds since the start of the hop."""
        return (self._clock.monotonic_ns() - self.started_ns) // 1000 / 1000

    def timings(self) -> dict[str, float | None]:
        """`{resolve_ms, …, body_ms, other_ms, total_ms}`; whole microseconds, so that the parts are the total."""
        end_ns = self._clock.monotonic_ns() if self._end_ns is None else self._end_ns
        spent = self._spent_ns
        timings: dict[str, float | None] = {
            name: spent[phase] // 1000 / 1000 if phase in spent else None for phase, name in _NAMES
        }
        total_us = (end_ns - self.started_ns) // 1000
        other_us = total_us - sum([ns // 1000 for ns in spent.values()])
        timings["other_ms"] = max(0, other_us) / 1000
        timings["total_ms"] = total_us / 1000
        return timings
