"""One small catalog, and a conversation about it in which tests speak in Python values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.mcp.catalog import Identity, ToolFace
from app.mcp.events import Call, Event, Send
from app.mcp.peer import Peer, ToolOutcome

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
DONE = ToolOutcome(b'{"ok":true}', is_error=False)


def face(name: str) -> ToolFace:
    return ToolFace(
        name=name,
        wire_name=name.replace(".", "_"),
        title="A title",
        description="A description.",
        input_schema={"type": "object", "properties": {"url": {"type": "string"}}},
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True},
    )


class Talk:
    """A conversation: requests go in as values, answers come out as values."""

    def __init__(self) -> None:
        self.peer = Peer(
            Identity("facts-mcp", "0.1.0", "Measure first."), [face("facts.measure.http"), face("ingest")]
        )

    def say(self, value: Any) -> list[Event]:
        return self.peer.receive(json.dumps(value).encode())

    def ask(self, method: str, id_: Any = 1, **params: Any) -> list[Event]:
        """A request without `_meta`, unless it is given."""
        return self.say({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def modern(self, method: str, id_: Any = 1, **params: Any) -> list[Event]:
        return self.ask(method, id_, _meta={**META, **params.pop("meta", {})}, **params)

    def initialize(self, version: Any) -> Any:
        return self.values(self.ask("initialize", 0, protocolVersion=version))[0]

    def call(self, id_: Any = 1, **meta: Any) -> Call:
        (event,) = self.modern("tools/call", id_, name="ingest", arguments={"a": 1}, meta=meta)
        assert isinstance(event, Call)
        return event

    def legacy_call(self, id_: Any = 1, **meta: Any) -> Call:
        (event,) = self.ask("tools/call", id_, name="ingest", _meta=meta)
        assert isinstance(event, Call)
        return event

    def cancel(self, id_: Any) -> list[Event]:
        params = {"requestId": id_}
        return self.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def finish(self, call: Call) -> list[Any]:
        return self.values(self.peer.finish(call, DONE))

    def values(self, events: list[Event]) -> list[Any]:
        return [json.loads(event.line) for event in events if isinstance(event, Send)]


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def make_face() -> Callable[[str], ToolFace]:
    return face
