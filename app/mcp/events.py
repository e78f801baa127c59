"""What a conversation yields: lines to send, calls to run, calls to stop."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from app.mcp.jsonrpc import RequestId


class Send(msgspec.Struct, frozen=True):
    """Send this line (without its end); `code` is that of a JSON-RPC error, for transports with a status."""

    line: bytes
    code: int | None = None


class Call(msgspec.Struct, frozen=True):
    """Run this tool, then hand the same value to `Peer.finish` or `Peer.fail`.

    `key` is unique in the conversation, also when the client uses an id again. `name` is the canonical one.
    `trace`, `trace_state` and `baggage` are what the client sent in `_meta` (W3C Trace Context), for the log.
    """

    key: int
    request_id: RequestId
    name: str
    arguments: dict[str, Any]
    progress: bool
    revision: str
    trace: str | None = None
    trace_state: str | None = None
    baggage: str | None = None


class Cancel(msgspec.Struct, frozen=True):
    """Stop the call with this key: nothing that it still says will be sent."""

    key: int


class Held(msgspec.Struct, frozen=True):
    """The answer is earned and waits for the others of its array."""


Event: TypeAlias = Send | Call | Cancel | Held
