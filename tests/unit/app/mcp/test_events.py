"""What a conversation yields, as values."""

from __future__ import annotations

import pytest

from app.mcp.events import Call, Cancel, Send


def test_events_are_equal_by_value() -> None:
    assert [Send(b"a"), Cancel(1)] == [Send(b"a", None), Cancel(1)]


def test_a_call_cannot_be_changed() -> None:
    call = Call(1, "a", "ingest", {}, progress=False, revision="2026-07-28")

    with pytest.raises(AttributeError):
        call.key = 2  # type: ignore[misc]  # that it is refused is the point
