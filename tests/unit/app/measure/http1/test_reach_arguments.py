"""The arguments that kinds over HTTP share are the same in each of them."""

from __future__ import annotations

import msgspec

from app.measure.http1.arguments import HttpParams
from app.measure.http1.reach_arguments import ReachParams
from app.measure.websocket.arguments import WsParams


def test_both_kinds_have_the_shared_arguments() -> None:
    shared = {field.name for field in msgspec.structs.fields(ReachParams)}

    assert "connect_to" in shared
    assert shared < {field.name for field in msgspec.structs.fields(HttpParams)}
    assert shared < {field.name for field in msgspec.structs.fields(WsParams)}
