"""Tokens of one hop: whole before the first packet, one by one afterwards."""

from __future__ import annotations

import pytest

from app.errors import ProbeFailed, ToolError
from app.net.tokens import Tokens
from policy import Budget, Rate


class StoppedClock:
    """A clock that shows one moment."""

    def wall_ns(self) -> int:
        return 0

    def monotonic_ns(self) -> int:
        return 1_000_000_000

    def boottime_ns(self) -> int:
        return 0

    def sync(self) -> tuple[bool | None, int | None]:
        return None, None


def tokens(burst: int, hop: int = 0) -> Tokens:
    return Tokens(Budget(Rate(60, burst), None), "svc.test:80", StoppedClock(), hop)


def test_reserved_tokens_are_spent_before_others_are_taken() -> None:
    hop = tokens(burst=3)
    hop.reserve(3)
    for _ in range(3):
        hop.spend()

    with pytest.raises(ProbeFailed) as caught:
        hop.spend()

    assert (caught.value.phase, caught.value.code, caught.value.facts) == (
        "limit",
        "rate_limited",
        {"retry_after_seconds": 1.0},
    )


def test_the_first_hop_is_refused_as_a_call() -> None:
    hop = tokens(burst=3)
    hop.reserve(3)

    with pytest.raises(ToolError) as caught:
        hop.reserve(2)

    assert (caught.value.code, caught.value.retry_after_seconds) == ("rate_limited", 2.0)


def test_a_refused_reservation_takes_nothing() -> None:
    hop = tokens(burst=3)

    with pytest.raises(ToolError):
        hop.reserve(4)

    hop.reserve(3)


def test_a_later_hop_ends_as_an_observation() -> None:
    hop = tokens(burst=1, hop=1)
    hop.reserve(1)

    with pytest.raises(ProbeFailed) as caught:
        hop.reserve(1)

    assert (caught.value.phase, caught.value.code) == ("limit", "rate_limited")


def test_more_than_a_burst_can_never_be_had_and_gives_no_time_to_wait() -> None:
    with pytest.raises(ToolError) as caught:
        tokens(burst=2).reserve(3)

    assert caught.value.retry_after_seconds is None
    assert caught.value.message.endswith(
        "the burst of the setting is smaller than what this measurement needs"
    )


def test_without_a_budget_everything_is_free() -> None:
    hop = Tokens(None, "svc.test:80", StoppedClock(), 0)

    hop.reserve(1_000_000)
    hop.spend()
