"""How much, how often: token buckets for each target and for all of them; pure, the time is handed in.

The rules of this file:
- A call takes all its tokens from both buckets, or none from either.
- What is remembered is bounded: a bucket that has filled up again is forgotten, and when there are too many
  that have not, a new target waits instead of an old one being forgiven.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

TARGET_PER_MINUTE: Final = 60.0
TARGET_BURST: Final = 20.0
OVERALL_PER_MINUTE: Final = 600.0
OVERALL_BURST: Final = 60.0
MOST_TARGETS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket: it holds `burst` tokens and gains `per_minute`, both positive."""

    per_minute: float
    burst: float

    @property
    def seconds_a_token(self) -> float:
        """How long one token takes to come back."""
        return 60.0 / self.per_minute


@dataclass(frozen=True, slots=True)
class _Level:
    """The tokens that a bucket held at a moment."""

    tokens: float
    at: float

    def later(self, now: float, rate: Rate) -> _Level:
        """The level at `now`; a clock that went back adds nothing and does not set the moment back."""
        elapsed = max(0.0, now - self.at)
        tokens = min(rate.burst, self.tokens + elapsed / rate.seconds_a_token)
        return _Level(tokens, max(now, self.at))

    def wait(self, tokens: float, rate: Rate) -> float:
        """Seconds until it holds that many; 0.0 when it does, infinite when it never can."""
        if tokens > rate.burst:
            return inf
        return max(0.0, (tokens - self.tokens) * rate.seconds_a_token)


class Budget:
    """Tokens for each target (`host:port`) and for all targets together; None turns one of them off."""

    def __init__(self, per_target: Rate | None, overall: Rate | None) -> None:
        self._per_target = per_target
        self._overall = overall
        self._total: _Level | None = None
        # In the order of last use: what stands first is full first.
        self._targets: dict[str, _Level] = {}

    @classmethod
    def of(cls, per_target: float = TARGET_PER_MINUTE, overall: float = OVERALL_PER_MINUTE) -> Budget:
        """The budget of two settings, in tokens a minute, with the usual bursts; 0 turns one off."""
        return cls(
            Rate(per_target, TARGET_BURST) if per_target > 0 else None,
            Rate(overall, OVERALL_BURST) if overall > 0 else None,
        )

    def take(self, key: str, tokens: int, now: float) -> float:
        """Takes the tokens and returns 0.0, or takes nothing and returns the seconds to wait.

        `now` is in seconds of a clock that only grows. The wait is infinite when the tokens exceed a burst.
        """
        if tokens < 1:
            raise ValueError("at least one token is taken")
        target = self._target(key, now)
        total = self._all(now)
        wait = max(
            self._room(key, now),
            0.0 if target is None or self._per_target is None else target.wait(tokens, self._per_target),
            0.0 if total is None or self._overall is None else total.wait(tokens, self._overall),
        )
        if wait > 0.0:
            return wait
        self._spend(key, tokens, target, total)
        return 0.0

    def _spend(self, key: str, tokens: int, target: _Level | None, total: _Level | None) -> None:
        if target is not None:
            self._targets.pop(key, None)
            self._targets[key] = _Level(target.tokens - tokens, target.at)
        if total is not None:
            self._total = _Level(total.tokens - tokens, total.at)

    def _all(self, now: float) -> _Level | None:
        if self._overall is None:
            return None
        return (self._total or _Level(self._overall.burst, now)).later(now, self._overall)

    def _target(self, key: str, now: float) -> _Level | None:
        if self._per_target is None:
            return None
        self._forget(now, self._per_target)
        return self._targets.get(key, _Level(self._per_target.burst, now)).later(now, self._per_target)

    def _forget(self, now: float, rate: Rate) -> None:
        """Drops the oldest buckets that are full again: a full one and none at all are the same."""
        while self._targets:
            key, level = next(iter(self._targets.items()))
            if level.later(now, rate).tokens < rate.burst:
                return
            del self._targets[key]

    def _room(self, key: str, now: float) -> float:
        """Seconds until one more target can be remembered."""
        rate = self._per_target
        if rate is None or key in self._targets or len(self._targets) < MOST_TARGETS:
            return 0.0
        oldest = next(iter(self._targets.values()))
        return oldest.later(now, rate).wait(rate.burst, rate)
