"""Token buckets, with the time handed in."""

from __future__ import annotations

from math import inf

import pytest

from policy import budget
from policy.budget import Budget, Rate


def test_a_burst_passes_and_then_a_token_a_second() -> None:
    one_a_second = Budget(Rate(60, 3), None)

    waits = [one_a_second.take("a:1", 1, now) for now in (0.0, 0.0, 0.0, 0.0, 0.25, 1.0, 1.0)]

    assert waits == [0.0, 0.0, 0.0, 1.0, 0.75, 0.0, 1.0]


def test_targets_do_not_share_a_bucket() -> None:
    one = Budget(Rate(60, 1), None)

    assert [one.take("a:1", 1, 0.0), one.take("b:1", 1, 0.0), one.take("a:1", 1, 0.0)] == [0.0, 0.0, 1.0]


def test_all_targets_share_the_overall_bucket() -> None:
    both = Budget(Rate(60, 5), Rate(600, 2))

    assert [both.take(key, 1, 0.0) for key in ("a:1", "b:1", "c:1")] == [0.0, 0.0, pytest.approx(0.1)]


def test_a_refused_call_takes_nothing_from_either_bucket() -> None:
    both = Budget(Rate(60, 2), Rate(60, 4))

    refused = both.take("a:1", 3, 0.0), both.take("b:1", 5, 0.0)

    assert refused == (inf, inf)
    assert [both.take("a:1", 2, 0.0), both.take("b:1", 2, 0.0)] == [0.0, 0.0]


def test_the_overall_bucket_refuses_without_charging_the_target() -> None:
    both = Budget(Rate(60, 1), Rate(60, 1))

    assert [both.take("a:1", 1, 0.0), both.take("b:1", 1, 0.5), both.take("b:1", 1, 1.0)] == [0.0, 0.5, 0.0]


def test_the_longer_wait_is_told_and_is_enough() -> None:
    both = Budget(Rate(6, 1), Rate(60, 1))
    both.take("a:1", 1, 0.0)

    wait = both.take("a:1", 1, 0.0)

    assert wait == 10.0
    assert both.take("a:1", 1, wait) == 0.0


def test_more_than_a_burst_can_never_be_had() -> None:
    assert Budget(Rate(60, 20), None).take("a:1", 21, 0.0) == inf
    assert Budget(None, Rate(600, 60)).take("a:1", 61, 0.0) == inf


@pytest.mark.parametrize(
    "one", [Budget(Rate(60, 2), None), Budget(None, Rate(60, 2))], ids=["target", "overall"]
)
def test_a_bucket_never_holds_more_than_its_burst(one: Budget) -> None:
    one.take("a:1", 1, 0.0)

    assert [one.take("a:1", 2, 1000.0), one.take("a:1", 1, 1000.0)] == [0.0, 1.0]


@pytest.mark.parametrize(
    "one", [Budget(Rate(60, 2), None), Budget(None, Rate(60, 2))], ids=["target", "overall"]
)
def test_a_clock_that_goes_back_gives_nothing_away(one: Budget) -> None:
    one.take("a:1", 1, 100.0)

    assert [one.take("a:1", 1, now) for now in (0.0, 0.0, 100.5, 101.0)] == [0.0, 1.0, 0.5, 0.0]


@pytest.mark.parametrize("tokens", [0, -1])
def test_taking_nothing_is_a_fault_of_the_caller(tokens: int) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        Budget.of().take("a:1", tokens, 0.0)


def test_the_usual_budget_is_20_a_target_and_60_overall() -> None:
    usual = Budget.of()

    waits = [usual.take(key, 20, 0.0) for key in ("a:1", "a:1", "b:1", "c:1", "d:1")]

    assert waits == [0.0, 20.0, 0.0, 0.0, 2.0]


def test_zero_turns_a_bucket_off() -> None:
    unlimited = Budget.of(0, 0)

    assert {unlimited.take("a:1", 1_000_000, 0.0) for _ in range(100)} == {0.0}
    assert Budget.of(0, 600).take("a:1", 60, 0.0) == 0.0
    assert Budget.of(60, 0).take("a:1", 21, 0.0) == inf


def test_full_buckets_are_forgotten() -> None:
    one = Budget(Rate(60, 2), None)
    for number in range(1000):
        one.take(f"h{number}:1", 1, float(number))

    assert len(one._targets) <= 2


def test_when_too_many_are_remembered_a_new_target_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_TARGETS", 2)
    one = Budget(Rate(60, 2), None)
    taken = [one.take("a:1", 1, 0.0), one.take("b:1", 1, 0.5)]

    waits = [one.take("c:1", 1, 0.75), one.take("a:1", 1, 0.75), one.take("c:1", 1, 1.5)]

    assert taken == [0.0, 0.0]
    assert waits == [0.25, 0.0, 0.0]
