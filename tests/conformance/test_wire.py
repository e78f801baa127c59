"""The wire of every revision, as transcripts that are played and checked against the official types.

In a transcript `>` is what a client sends, `<` what the server must have said by then, `!` a deed of ours, `#` a
remark. Each result is also read with the types that the authors of MCP publish for that revision; a member that
these do not know fails as well as one that they miss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types._v2026_07_28 import JSONRPCErrorResponse  # no public type admits an error without an id
from mcp_types.jsonrpc import JSONRPCError, jsonrpc_message_adapter
from mcp_types.methods import parse_server_notification, serialize_server_result
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from app.mcp.catalog import Identity, ToolFace
from app.mcp.events import Call, Event, Held, Send
from app.mcp.peer import Peer, ToolOutcome
from app.mcp.revisions import load

FOLDER = Path(__file__).parent / "transcripts"
TRANSCRIPTS = {path.stem: path.read_text("utf-8").splitlines() for path in sorted(FOLDER.iterdir())}
VERSION = "io.modelcontextprotocol/protocolVersion"

HTTP = ToolFace(
    name="facts.measure.http",
    wire_name="facts_measure_http",
    title="Measure an HTTP endpoint",
    description="Fetch a URL once and record what was observed.",
    input_schema={
        "type": "object",
        "properties": {"url": {"type": "string"}},
        "required": ["url"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {"status": {"type": "integer"}, "total_ms": {"type": "number"}},
        "required": ["status", "total_ms"],
    },
    annotations={"readOnlyHint": True, "openWorldHint": True},
)
HELD = "facts.held"


class Stage:
    """A server whose one tool answers at once, and a hidden one that never ends by itself."""

    def __init__(self) -> None:
        held = ToolFace(
            name=HELD,
            wire_name="facts_held",
            title="",
            description="",
            input_schema={"type": "object"},
            output_schema={"type": "object"},
            annotations={},
        )
        self.peer = Peer(Identity("facts-mcp", "0.1.0", "Measure first, then remember."), [HTTP, held])
        self.held: list[Call] = []

    def client(self, text: str) -> list[Any]:
        return self._said(self.peer.receive(text.encode()))

    def deed(self, name: str) -> list[Any]:
        if name == "close":
            return [json.loads(line) for line in self.peer.close()]
        return [answer for call in self.held for answer in self._end(call)]

    def _said(self, events: list[Event]) -> list[Any]:
        said: list[Any] = []
        for event in events:
            if isinstance(event, Send):
                said.append(_without_held(json.loads(event.line)))
            elif isinstance(event, Call) and event.name == HELD:
                self.held.append(event)
            elif isinstance(event, Call):
                said += self._run(event)
        return said

    def _run(self, call: Call) -> list[Any]:
        # The rest of an array is still being read: its calls end afterwards, as they do in real life.
        told = self._said(self.peer.progress(call, "TLS handshake done", 0.5, 1))
        return told + self._end(call)

    def _end(self, call: Call) -> list[Any]:
        events = self.peer.finish(call, ToolOutcome(b'{"status":200,"total_ms":41.7}', is_error=False))
        return self._said([event for event in events if not isinstance(event, Held)])


def _without_held(message: Any) -> Any:
    if isinstance(message, dict) and "tools" in message.get("result", {}):
        message["result"]["tools"] = [
            tool for tool in message["result"]["tools"] if tool["name"] != "facts_held"
        ]
    return message


def _played(lines: list[str]) -> tuple[list[Any], list[Any], list[Any]]:
    """What the client sent, what was expected and what was said, the last two with the lines that caused them."""
    stage = Stage()
    sent: list[Any] = []
    expected: list[Any] = []
    said: list[Any] = []
    for number, line in enumerate(lines, 1):
        sign, _, text = line.partition(" ")
        if sign == "<":
            expected.append(json.loads(text))
        elif sign == ">":
            sent.append(text)
            said += stage.client(text)
        elif sign == "!":
            said += stage.deed(text)
        assert sign in "<>!#", f"line {number} of a transcript says nothing"
    return sent, expected, said


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_is_what_the_server_says(name: str) -> None:
    _, expected, said = _played(TRANSCRIPTS[name])

    assert said == expected


def test_every_revision_that_is_known_is_served_and_has_its_transcript() -> None:
    handshakes = [f"handshake-{version}" for version in load() if version not in MODERN_PROTOCOL_VERSIONS]

    assert list(load()) == list(KNOWN_PROTOCOL_VERSIONS)
    assert list(TRANSCRIPTS) == [*handshakes, "stateless"]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_every_line_that_is_said_is_valid_by_the_official_types(name: str) -> None:
    sent, _, said = _played(TRANSCRIPTS[name])
    version = name.partition("handshake-")[2] or "2026-07-28"

    asked = _requests(sent, version)
    for message in _flat(said):
        _check(message, asked)


def _flat(messages: list[Any]) -> list[Any]:
    return [one for message in messages for one in (message if isinstance(message, list) else [message])]


def _requests(sent: list[str], version: str) -> Mapping[Any, tuple[str, str]]:
    """Method and revision of each request by its id."""
    found: dict[Any, tuple[str, str]] = {}
    for text in sent:
        if text == "{":
            continue
        for message in _flat([json.loads(text)]):
            meta = message.get("params", {}).get("_meta", {})
            found[message.get("id")] = message["method"], meta.get(VERSION, version)
    return found


def _check(message: Any, asked: Mapping[Any, tuple[str, str]]) -> None:
    if "method" in message:
        _check_notification(message)
    elif "result" in message:
        jsonrpc_message_adapter.validate_python(message)
        method, version = asked[message["id"]]
        assert serialize_server_result(method, version, message["result"]) == message["result"]
    elif "id" in message:
        JSONRPCError.model_validate(message, extra="forbid")
    else:
        # Also in a legacy session: an error whose id could not be read has none.
        JSONRPCErrorResponse.model_validate(message)
        assert set(message) == {"jsonrpc", "error"}


def _check_notification(message: Any) -> None:
    jsonrpc_message_adapter.validate_python(message)
    if message["method"] != "notifications/cancelled":  # the server's one is not in the table of the package
        parse_server_notification(message["method"], "2026-07-28", message["params"])
    else:
        assert set(message["params"]) == {"requestId", "reason"}
