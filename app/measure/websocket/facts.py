"""The facts of a WebSocket measurement, field by field: the published schema, and what `brief` may leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from app.measure.http1.brief import brief as brief_of_http
from app.measure.http1.brief import shortened
from app.measure.http1.facts import Entry, HopFacts, Hops, OfAddress

BRIEF_MESSAGES = 20


class Payload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text, or bytes in base64."""

    text: Annotated[str | UnsetType, Meta(description="Of a text message.")] = UNSET
    base64: Annotated[str | UnsetType, Meta(description="Of a binary one.")] = UNSET


class Message(Payload, frozen=True, kw_only=True):
    """One message that came."""

    index: Annotated[int, Meta(description="From 0.")]
    received_at: Annotated[str, Meta(description="When the read that completed it arrived; UTC.")]
    offset_ms: Annotated[float, Meta(description="From the start of the hop.")]
    type: Annotated[Literal["text", "binary"], Meta(description="As its frame says.")]
    bytes: Annotated[int, Meta(description="Of the whole message, decompressed.")]
    frames: Annotated[int, Meta(description="That it came in.")]
    compressed: Annotated[bool, Meta(description="By permessage-deflate.")]
    truncated: Annotated[bool, Meta(description="Our copy was cut at max_bytes.")]


class Control(Struct, frozen=True, kw_only=True):
    """A ping or pong that came; pings are answered."""

    type: Annotated[Literal["ping", "pong"], Meta(description="What came.")]
    by: Annotated[Literal["remote"], Meta(description="Who sent it.")]
    offset_ms: Annotated[float, Meta(description="From the start of the hop.")]
    bytes: Annotated[int, Meta(description="Of its payload.")]


class Close(Struct, frozen=True, kw_only=True):
    """How the WebSocket ended."""

    code: Annotated[int | None, Meta(description="Null: the close frame held none, or there was no frame.")]
    reason: Annotated[str | None, Meta(description="Of the close frame.")]
    by: Annotated[
        Literal["remote", "local", "none"], Meta(description="Who sent the first close frame; none: nobody.")
    ]
    clean: Annotated[bool, Meta(description="Both sides sent a close frame.")]


class Sent(Payload, frozen=True, kw_only=True):
    """One message of the argument `send`, sent."""

    index: Annotated[int, Meta(description="In send, from 0.")]
    offset_ms: Annotated[float, Meta(description="From the start of the hop.")]


class WsFacts(HopFacts, frozen=True, kw_only=True):
    """The handshake as a hop of HTTP, and what came behind it."""

    kind: Annotated[Literal["ws"], Meta(description="Of measurement.")]
    messages: Annotated[list[Message] | UnsetType, Meta(description="What came, in order.")] = UNSET
    control: Annotated[list[Control] | UnsetType, Meta(description="Pings and pongs, the first 1000.")] = (
        UNSET
    )
    close: Close
    sent: Annotated[list[Sent] | UnsetType, Meta(description="What was sent, in order.")] = UNSET
    seen: Annotated[int, Meta(description="Whole messages that arrived.")]
    kept: Annotated[int, Meta(description="Messages in the stored answer; brief shows the first 20.")]
    stopped_by: Annotated[
        Literal["window", "count", "bytes", "peer"] | None, Meta(description="Null: it was never open.")
    ]
    subprotocol: Annotated[str | None, Meta(description="That the server chose.")]
    extensions: Annotated[list[str] | UnsetType, Meta(description="That were agreed on.")] = UNSET
    hops: Hops | UnsetType = UNSET
    samples: Annotated[list[Entry] | UnsetType, Meta(description="Handshakes, with samples above 1.")] = UNSET
    by_address: Annotated[
        list[OfAddress] | UnsetType, Meta(description="Handshakes, with addresses all.")
    ] = UNSET


_OF_A_BODY = frozenset({"body", "body_encoding", "framing"})


def brief(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without what an agent rarely reads: the first messages, and no body where none can be."""
    kept = brief_of_http(facts)
    if facts["http_status"] == 101:
        kept = {name: value for name, value in kept.items() if name not in _OF_A_BODY}
    for name in ("messages", "sent"):
        if name in kept:
            kept[name] = [
                {key: shortened(key, value) for key, value in each.items()}
                for each in kept[name][:BRIEF_MESSAGES]
            ]
    return kept
