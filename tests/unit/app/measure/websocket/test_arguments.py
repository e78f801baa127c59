"""The schema of the arguments refuses what no server could do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.measure.websocket.arguments import Binary, WsParams


@pytest.mark.parametrize(
    "arguments",
    [
        {"window_ms": 0},
        {"window_ms": 120_001},
        {"max_messages": 10_001},
        {"max_bytes": 1_048_577},
        {"subprotocols": ["a b"]},
        {"send": ["a"] * 17},
        {"send": [{"base64": "", "text": ""}]},
        {"send": [1]},
    ],
)
def test_arguments_outside_the_schema_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"project": "p", "url": "ws://a/", **arguments}, WsParams)


def test_a_message_is_a_text_or_bytes() -> None:
    params = msgspec.convert({"project": "p", "url": "ws://a/", "send": ["a", {"base64": "AA=="}]}, WsParams)

    assert params.send == ["a", Binary("AA==")]
