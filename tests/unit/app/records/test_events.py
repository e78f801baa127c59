"""The events themselves: frozen values that begin with their type."""

from __future__ import annotations

import msgspec
import pytest

from app.records.events import Measured

EVENT = Measured(
    "facts.measure.tcp", {"target": "127.0.0.1:9"}, "2026-09-22T08:14:03.000000Z", None, False, {}
)


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        EVENT.ok = True  # type: ignore[misc]  # that is what is tested


def test_the_type_of_an_event_is_its_first_member() -> None:
    assert next(iter(msgspec.to_builtins(EVENT).items())) == ("type", "measured")
