"""Decisions are values: what admits, what refuses, and the order in which refusals speak."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from policy.decision import GRAVEST_FIRST, Decision, Rule, allowed, refused


def test_a_decision_is_a_frozen_value() -> None:
    decision = allowed("listed_name", "a.test:80 is listed")

    assert decision == Decision(allowed=True, rule="listed_name", reason="a.test:80 is listed")
    with pytest.raises(FrozenInstanceError):
        decision.allowed = False  # type: ignore[misc]  # the point of the test


def test_a_refusal_has_no_advice_until_somebody_gives_it() -> None:
    decision = refused("never", "no", "metadata")

    assert decision == Decision(
        allowed=False, rule="never", reason="no", address_class="metadata", configure=None
    )


def test_the_order_of_gravity_is_made_of_rules_each_once() -> None:
    assert len(set(GRAVEST_FIRST)) == len(GRAVEST_FIRST)
    assert set(GRAVEST_FIRST) <= set(get_args(Rule))
