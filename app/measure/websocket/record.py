"""What was heard and said on a WebSocket: kept small while it happens, told as facts afterwards."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from app.clock import utc_text

Facts = dict[str, Any]
By = Literal["remote", "local", "none"]
MOST_CONTROL = 1000
"""Pings and pongs that are kept; a peer can send any number of them."""


class Message(NamedTuple):
    """One message: `size` bytes as it came, decompressed; `payload` is a text or bytes, perhaps cut by us."""

    at_ns: int
    payload: str | bytes
    size: int
    frames: int
    compressed: bool
    truncated: bool


class Control(NamedTuple):
    """A ping or a pong."""

    at_ns: int
    kind: Literal["ping", "pong"]
    size: int
    by: Literal["remote"]


@dataclass(slots=True)
class Closing:
    """How it ended: `code` is None where a close frame held none, or where there was no frame."""

    code: int | None = None
    reason: str | None = None
    by: By = "none"
    clean: bool = False


@dataclass(slots=True)
class Record:
    """Everything of one conversation; `stopped_by` is None while it goes on, or where it never began."""

    messages: list[Message] = field(default_factory=list)
    control: list[Control] = field(default_factory=list)
    sent: list[tuple[int, str | bytes]] = field(default_factory=list)
    seen: int = 0
    kept_bytes: int = 0
    closing: Closing = field(default_factory=Closing)
    subprotocol: str | None = None
    extensions: list[str] = field(default_factory=list)
    stopped_by: Literal["window", "count", "bytes", "peer"] | None = None

    def note_control(self, control: Control) -> None:
        """Keep a ping or pong, up to a bound."""
        if len(self.control) < MOST_CONTROL:
            self.control.append(control)

    def facts(self, start_ns: int, start_wall_ns: int) -> Facts:
        """The facts; offsets count from `start_ns` (monotonic), which was `start_wall_ns` on the wall clock."""
        return {
            "messages": [
                {
                    "index": index,
                    "received_at": utc_text(start_wall_ns + each.at_ns - start_ns),
                    "offset_ms": _ms(each.at_ns - start_ns),
                    "type": "text" if isinstance(each.payload, str) else "binary",
                    "bytes": each.size,
                    **_shown(each.payload),
                    "frames": each.frames,
                    "compressed": each.compressed,
                    "truncated": each.truncated,
                }
                for index, each in enumerate(self.messages)
            ],
            "control": [
                {
                    "type": each.kind,
                    "by": each.by,
                    "offset_ms": _ms(each.at_ns - start_ns),
                    "bytes": each.size,
                }
                for each in self.control
            ],
            "close": {
                "code": self.closing.code,
                "reason": self.closing.reason,
                "by": self.closing.by,
                "clean": self.closing.clean,
            },
            "sent": [
                {"index": index, "offset_ms": _ms(at_ns - start_ns), **_shown(payload)}
                for index, (at_ns, payload) in enumerate(self.sent)
            ],
            "seen": self.seen,
            "kept": len(self.messages),
            "stopped_by": self.stopped_by,
            "subprotocol": self.subprotocol,
            "extensions": self.extensions,
        }


def _shown(payload: str | bytes) -> Facts:
    if isinstance(payload, str):
        return {"text": payload}
    return {"base64": b64encode(payload).decode("ascii")}


def _ms(ns: int) -> float:
    return ns // 1000 / 1000
