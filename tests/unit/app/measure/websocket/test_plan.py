"""A plan of listening: the handshake is ours, the payloads are checked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.errors import PolicyRefused, ToolError
from app.measure.kind import Limits
from app.measure.websocket.arguments import WsParams
from app.measure.websocket.plan import WsPlan, ws_plan_of


def plan(**arguments: Any) -> WsPlan:
    params = msgspec.convert({"project": "p", "url": "ws://127.0.0.1:1/a?b", **arguments}, WsParams)
    return ws_plan_of(params, Limits())


def test_the_handshake_asks_for_a_websocket_with_a_key_of_its_own() -> None:
    first, second = (dict(plan(subprotocols=["a", "b"]).handshake.request.headers()) for _ in range(2))

    assert first.pop("Sec-WebSocket-Key") != second["Sec-WebSocket-Key"]
    assert first == {
        "Host": "127.0.0.1:1",
        "User-Agent": "facts-mcp/0.1.0",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits",
        "Sec-WebSocket-Protocol": "a, b",
    }


def test_payloads_are_texts_or_bytes() -> None:
    assert plan(send=["ä", {"base64": "AAE="}]).listening.send == ("ä", b"\x00\x01")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"url": "http://127.0.0.1/"}, "url"),
        ({"send": ["a", {"base64": "?"}]}, "send[1]"),
        ({"send": ["\ud800"]}, "send[0]"),
        ({"headers": {"Sec-WebSocket-Key": "x"}}, "headers"),
        ({"headers": {"Upgrade": "x"}}, "headers"),
        ({"max_redirects": 20}, "max_redirects"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ToolError) as caught:
        plan(**arguments)

    assert (caught.value.code, caught.value.field) == ("invalid_arguments", field)


def test_headers_that_unlock_metadata_are_refused() -> None:
    with pytest.raises(PolicyRefused):
        plan(headers={"Metadata-Flavor": "Google"})


def test_an_observer_sends_no_secret_subprotocols() -> None:
    with pytest.raises(ToolError) as caught:
        plan(url="wss://127.0.0.1:1/", verify="observe", subprotocols=["access_token", "c4nary99"])

    assert caught.value.field == "subprotocols"


def test_every_connection_has_a_key_of_its_own() -> None:
    handshake = plan().handshake
    assert handshake.renew is not None

    keys = {dict(handshake.renew(handshake.request).upgrade)["Sec-WebSocket-Key"] for _ in range(3)}

    assert len(keys) == 3
