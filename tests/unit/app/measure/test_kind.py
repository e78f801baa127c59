"""What a kind is handed and what it gives back: frozen, with defaults that harm nobody."""

from __future__ import annotations

import dataclasses

import pytest

from app.clock import SystemClock
from app.measure.kind import Bench, Limits, Outcome


def test_without_an_operator_only_safe_methods_are_sent() -> None:
    assert Limits().http_methods == {"GET", "HEAD", "OPTIONS"}
    assert Limits().max_redirects == 5


def test_progress_that_nobody_asked_for_goes_nowhere() -> None:
    told = Bench(None, SystemClock(), 0).progress

    told("connected")

    assert told.__name__ == "<lambda>"


def test_an_outcome_cannot_be_changed_afterwards() -> None:
    outcome = Outcome(ok=True, data={})

    with pytest.raises(dataclasses.FrozenInstanceError):
        outcome.ok = False  # type: ignore[misc]  # that is what must fail
