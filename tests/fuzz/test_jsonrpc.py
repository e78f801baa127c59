"""A corpus of odd lines, replayed: each is answered or ignored, nothing raises, and the conversation lives.

`jsonrpc/lines.json` maps a sentence to `text`, to `base64` of bytes that are no text, or to `repeated` parts.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from app.mcp.catalog import Identity, ToolFace
from app.mcp.events import Call, Event, Send
from app.mcp.peer import Peer, ToolOutcome

OBJECT = {"type": "object"}
INGEST = ToolFace(
    name="ingest",
    wire_name="ingest",
    title="Ingest",
    description="Take a document.",
    input_schema=OBJECT,
    output_schema=OBJECT,
    annotations={},
)
OPENING = b'{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"%s"}}'
PING = b'{"jsonrpc":"2.0","id":"still there","method":"ping"}'
PONG = Send(b'{"jsonrpc":"2.0","id":"still there","result":{}}')


def _bytes(entry: dict[str, Any]) -> bytes:
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    parts = entry.get("repeated", [[entry.get("text"), 1]])
    return "".join(part * times for part, times in parts).encode()


CORPUS = {
    name: _bytes(entry)
    for name, entry in json.loads((Path(__file__).parent / "jsonrpc" / "lines.json").read_text()).items()
}


def new_peer(version: str) -> Peer:
    peer = Peer(Identity("facts-mcp", "0.1.0"), [INGEST])
    if version:
        peer.receive(OPENING % version.encode())
    return peer


def answered(peer: Peer, events: list[Event]) -> list[Event]:
    """The events, with each call that was asked for finished at once."""
    calls = [event for event in events if isinstance(event, Call)]
    ends = [peer.finish(call, ToolOutcome(b"{}", is_error=False)) for call in calls]
    return [*events, *(event for end in ends for event in end)]


def test_the_corpus_is_worth_its_name() -> None:
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("version", ["", "2025-03-26", "2025-11-25"], ids=["new", "with batches", "legacy"])
@pytest.mark.parametrize("line", CORPUS.values(), ids=CORPUS)
def test_an_odd_line_is_answered_or_ignored_and_the_conversation_lives(line: bytes, version: str) -> None:
    peer = new_peer(version)
    sent = [event.line for event in answered(peer, peer.receive(line)) if isinstance(event, Send)]

    assert len(sent) <= 1
    assert all(b"\n" not in answer and json.loads(answer) for answer in sent)
    assert (peer.receive(PING), peer.in_flight) == ([PONG], 0)


def test_the_whole_corpus_in_one_conversation_leaves_it_alive() -> None:
    peer = new_peer("")
    for line in CORPUS.values():
        answered(peer, peer.receive(line))

    assert peer.receive(PING) == [PONG]


@pytest.mark.parametrize("line", CORPUS.values(), ids=CORPUS)
def test_an_odd_line_may_be_too_long_as_well(line: bytes) -> None:
    (event,) = new_peer("").oversize(line + b"\n" + line)

    assert isinstance(event, Send)
    assert json.loads(event.line)["error"]["code"] == -32600
