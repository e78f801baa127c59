"""Laws of whole conversations: whatever a client says in whatever order, each request gets exactly one answer.

The model beside the peer counts what is owed for each id; the peer's lines are read with the official types.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.jsonrpc import ErrorData, jsonrpc_message_adapter

from app.mcp.catalog import Identity, ToolFace
from app.mcp.events import Call, Cancel, Event, Send
from app.mcp.jsonrpc import Request, read
from app.mcp.peer import Peer, ToolOutcome

OBJECT = {"type": "object"}
TOOL = ToolFace(
    name="facts.a",
    wire_name="facts_a",
    title="A",
    description="A.",
    input_schema=OBJECT,
    output_schema=OBJECT,
    annotations={},
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01"]
METHODS = ["ping", "tools/list", "tools/call", "tools/call", "server/discover", "subscriptions/listen", "x"]

ids = st.sampled_from([0, 1, 2, "0", "1", "", 2**70])
metas = st.sampled_from([None, META, {**META, "progressToken": "t"}, {"progressToken": 1}, {**META, "x": 1}])


def _request(method: str, id_: Any, meta: Any, version: str) -> dict[str, Any]:
    params: dict[str, Any] = {"name": "facts_a", "protocolVersion": version, "notifications": {}}
    return {
        "jsonrpc": "2.0",
        "id": id_,
        "method": method,
        "params": params | ({"_meta": meta} if meta else {}),
    }


requests = st.builds(
    _request, st.sampled_from([*METHODS, "initialize"]), ids, metas, st.sampled_from(VERSIONS)
)
notes = st.builds(
    lambda id_: {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}, ids
)
odd = st.sampled_from(
    [1, None, {}, {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": "n"}]
)
singles = st.one_of(requests, requests, notes, odd)
actions = st.one_of(
    st.tuples(st.just("say"), st.one_of(singles, singles, st.lists(singles, max_size=4))),
    st.tuples(st.just("finish"), st.integers(0, 5)),
    st.tuples(st.just("progress"), st.tuples(st.integers(0, 5), st.floats())),
)


class Session:
    """The peer, and beside it what a careful client would count."""

    def __init__(self) -> None:
        self.peer = Peer(Identity("facts-mcp", "0.1.0"), [TOOL])
        self.asked: Counter[Any] = Counter()
        self.answers: Counter[Any] = Counter()
        self.cancelled: Counter[Any] = Counter()
        self.calls: list[Call] = []
        self.progress: dict[Any, float] = {}

    def act(self, action: str, argument: Any) -> None:
        if action == "say":
            self.say(argument)
        elif action == "finish":
            self.finish(argument)
        else:
            self.tell(*argument)

    def say(self, value: Any) -> None:
        line = json.dumps(value).encode()
        messages = value if isinstance(value, list) else [value]
        served = not isinstance(value, list) or self.peer.negotiated == "2025-03-26"
        if served:
            read_ = [read(json.dumps(message).encode()) for message in messages]
            self.asked.update(_key(message.id) for message in read_ if isinstance(message, Request))
        self.take(self.peer.receive(line))

    def finish(self, index: int) -> None:
        if self.calls:
            call = self.calls.pop(index % len(self.calls))
            self.take(self.peer.finish(call, ToolOutcome(b'{"ok":true}', is_error=False)))

    def tell(self, index: int, value: float) -> None:
        if not self.calls:
            return
        call = self.calls[index % len(self.calls)]
        events = self.peer.progress(call, "m", value)
        assert not events or (call.progress and value > self.progress.get(call.key, -float("inf")))
        if events:
            self.progress[call.key] = value
        self.take(events)

    def take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Call):
                self.calls.append(event)
            elif isinstance(event, Cancel):
                (call,) = [call for call in self.calls if call.key == event.key]
                self.cancelled[_key(call.request_id)] += 1
            elif isinstance(event, Send):
                self.read(event.line)

    def read(self, line: bytes) -> None:
        assert b"\n" not in line
        value = json.loads(line)
        assert value != []
        for message in value if isinstance(value, list) else [value]:
            if "method" in message or "id" in message:
                jsonrpc_message_adapter.validate_python(message)
            else:  # the schema lets an error go without id, the SDK's own model does not
                assert set(message) == {"jsonrpc", "error"}
                ErrorData.model_validate(message["error"])
            if "id" in message:
                self.answers[_key(message["id"])] += 1

    def end(self) -> None:
        while self.calls:
            self.finish(0)
        for line in self.peer.close():
            self.read(line)


def _key(id_: Any) -> Any:
    return type(id_).__name__, id_


@settings(max_examples=300)
@given(st.lists(actions, max_size=30))
def test_each_request_gets_one_answer_and_a_cancelled_call_none(plan: list[Any]) -> None:
    session = Session()
    for action, argument in plan:
        session.act(action, argument)
    subscriptions = _cancelled_subscriptions(plan)
    session.end()

    owed = session.asked - session.cancelled
    missing = owed - session.answers
    assert session.answers - owed == Counter()
    assert not subscriptions or sum(missing.values()) <= subscriptions
    assert subscriptions or missing == Counter()
    assert session.peer.in_flight == 0


def _cancelled_subscriptions(plan: list[Any]) -> int:
    """An upper bound: how many cancellations were said that may have ended a subscription."""
    said = [argument for action, argument in plan if action == "say"]
    single = [message for value in said for message in (value if isinstance(value, list) else [value])]
    return sum(
        isinstance(message, dict) and message.get("method") == "notifications/cancelled" for message in single
    )


@given(ids, st.sampled_from(VERSIONS), st.sampled_from(METHODS), metas)
def test_the_answer_to_a_first_request_does_not_depend_on_an_earlier_handshake_if_it_is_stateless(
    id_: Any, version: str, method: str, meta: Any
) -> None:
    request = json.dumps(_request(method, id_, META | (meta or {}), version)).encode()
    fresh, used = Session().peer, Session().peer
    used.receive(json.dumps(_request("initialize", "i", None, version)).encode())

    assert fresh.receive(request) == used.receive(request)
