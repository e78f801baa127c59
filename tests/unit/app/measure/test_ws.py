"""The kind: every field of its schema is filled, and a refused target is an error of the call."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.errors import PolicyRefused
from app.measure.websocket.facts import WsFacts
from app.measure.ws import KIND

BYE = b"\x88\x02\x03\xe8"


def test_every_field_of_the_schema_is_filled_and_no_other(measure_ws: Any, byte_server: Any) -> None:
    outcome = measure_ws(byte_server([["upgrade", BYE, "hang"]]).url.replace("http", "ws"))

    assert sorted(outcome.data) == sorted(field.encode_name for field in msgspec.structs.fields(WsFacts))
    assert msgspec.convert(KIND.brief(outcome.data), WsFacts).kind == "ws"


def test_a_refused_target_is_an_error_of_the_call(measure_ws: Any) -> None:
    with pytest.raises(PolicyRefused):
        measure_ws("ws://169.254.169.254/")


def test_one_that_sends_is_not_called_read_only() -> None:
    assert KIND.read_only is False
