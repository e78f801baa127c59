"""Laws of the budget: never more than burst and rate allow, and the wait that is told is enough."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from policy.budget import Budget, Rate

steps = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.floats(0, 30)), max_size=60)


@given(steps)
def test_no_window_gets_more_than_its_burst_and_its_rate(taken: list[tuple[str, int, float]]) -> None:
    budget, now = Budget(Rate(60, 5), Rate(120, 8)), 0.0
    granted: list[tuple[str, int, float]] = []
    for key, tokens, pause in taken:
        now += pause
        if budget.take(key, tokens, now) == 0.0:
            granted.append((key, tokens, now))

    for first, (key, _, start) in enumerate(granted):
        for _, _, end in granted[first:]:
            window = [(each, tokens) for each, tokens, at in granted[first:] if at <= end]
            assert sum(tokens for _, tokens in window) <= 8 + 2 * (end - start) + 1e-6
            assert sum(tokens for each, tokens in window if each == key) <= 5 + (end - start) + 1e-6


@given(steps)
def test_the_wait_that_is_told_is_enough(taken: list[tuple[str, int, float]]) -> None:
    budget, now = Budget(Rate(60, 5), Rate(120, 8)), 0.0
    for key, tokens, pause in taken:
        now += pause
        wait = budget.take(key, tokens, now)

        assert wait == inf if tokens > 5 else 0.0 <= wait < inf
        if 0.0 < wait < inf:
            now += wait + 1e-9
            assert budget.take(key, tokens, now) == 0.0
