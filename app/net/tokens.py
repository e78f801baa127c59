"""The tokens of one hop: reserved whole before the first packet, then spent packet by packet."""

from __future__ import annotations

from math import ceil, isinf

from app.clock import Clock
from app.errors import ProbeFailed, ToolError
from policy import Budget


class Tokens:
    """What one hop may spend at one target; without a budget everything is free.

    The first hop of a call is refused as a call (`ToolError`), because nothing has been sent yet; whatever comes
    later has left facts behind and becomes an observation (`ProbeFailed`).
    """

    def __init__(self, budget: Budget | None, key: str, clock: Clock, hop: int) -> None:
        self._budget = budget
        self._key = key
        self._clock = clock
        self._hop = hop
        self._reserved = 0

    def reserve(self, tokens: int) -> None:
        """Take what the hop is known to need, or refuse it whole."""
        wait = self._take(tokens)
        if not wait:
            self._reserved += tokens
            return
        if self._hop:
            raise self._failed(wait)
        message = f"the budget of {self._key} or of all targets has no {tokens} tokens left: {_when(wait)}"
        raise ToolError("rate_limited", message, retry_after_seconds=_finite(wait))

    def spend(self) -> None:
        """Use a reserved token, or take one more."""
        if self._reserved:
            self._reserved -= 1
            return
        wait = self._take(1)
        if wait:
            raise self._failed(wait)

    def _take(self, tokens: int) -> float:
        if self._budget is None:
            return 0.0
        return self._budget.take(self._key, tokens, self._clock.monotonic_ns() / 1_000_000_000)

    def _failed(self, wait: float) -> ProbeFailed:
        message = f"the budget of {self._key} or of all targets is spent: {_when(wait)}"
        return ProbeFailed("limit", "rate_limited", message, retry_after_seconds=_finite(wait))


def _when(wait: float) -> str:
    if isinf(wait):
        return "the burst of the setting is smaller than what this measurement needs"
    return f"come back in {_finite(wait)} s"


def _finite(wait: float) -> float | None:
    return None if isinf(wait) else ceil(wait * 1000) / 1000
