"""The facts of an HTTP measurement, field by field: the published schema.

Fields without a default are always there. Everything is a fact or null; null means that it did not happen or is
not known, never that it is zero.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field


class Target(Struct, frozen=True, kw_only=True):
    """What was measured, as it was understood."""

    input: Annotated[str, Meta(description="The URL of the call, or the Location of a redirect, as written.")]
    scheme: Annotated[str | UnsetType, Meta(description="http or https; ws or wss.")] = UNSET
    host: Annotated[str, Meta(description="A-labels in lower case, or an address without brackets.")]
    port: Annotated[int, Meta(description="Given or of the scheme.")]
    path: Annotated[str | UnsetType, Meta(description="Path and query as sent.")] = UNSET
    literal: Annotated[
        bool | UnsetType, Meta(description="The host is an address: nothing was looked up.")
    ] = UNSET


class Timings(Struct, frozen=True, kw_only=True):
    """Durations in milliseconds; null: the phase did not happen. Phases and other_ms add up to the hop's total."""

    resolve_ms: Annotated[float | None, Meta(description="Looking up the name.")]
    connect_ms: Annotated[float | None, Meta(description="Connecting.")]
    tls_ms: Annotated[float | None, Meta(description="The TLS handshake.")]
    send_ms: Annotated[float | None, Meta(description="Sending the request.")]
    first_byte_ms: Annotated[
        float | None, Meta(description="From the request sent to the first byte received.")
    ]
    head_ms: Annotated[float | None, Meta(description="From the first byte to the end of the final head.")]
    body_ms: Annotated[float | None, Meta(description="From the head to the end.")]
    other_ms: Annotated[float, Meta(description="Outside the phases.")]
    total_ms: Annotated[float, Meta(description="At the top: the sum over all hops.")]


class Bytes(Struct, frozen=True, kw_only=True):
    """Bytes on the connection, heads and TLS records included."""

    sent: Annotated[int, Meta(description="By us.")]
    received: Annotated[int, Meta(description="From the target.")]


class BodyBytes(Struct, frozen=True, kw_only=True):
    """Sizes of the body that arrived."""

    encoded: Annotated[int, Meta(description="Bytes received, without chunk framing, still content-encoded.")]
    decoded: Annotated[
        int | None, Meta(description="Bytes without content codings; null: not decodable here.")
    ]
    decoded_at_least: Annotated[
        bool | UnsetType, Meta(description="The decoded size is a lower bound; brief: only when it is.")
    ] = UNSET


class BodyCharset(Struct, frozen=True, kw_only=True):
    """How a text body was read."""

    name: Annotated[str, Meta(description="The charset.")]
    origin: Annotated[Literal["bom", "header", "default"], Meta(description="What named it.")] = field(
        name="from"
    )
    replaced: Annotated[bool, Meta(description="Some bytes were not such text and show as U+FFFD.")]


class RefusedBy(Struct, frozen=True, kw_only=True):
    """Why a redirect was not followed although the call asked for it."""

    url: Annotated[str, Meta(description="Where it leads.")]
    address: Annotated[str | None, Meta(description="The address that was judged.")]
    class_: Annotated[str | None, Meta(description="Of the address.")] = field(name="class")
    rule: Annotated[str, Meta(description="The rule that refused.")]


class Redirect(Struct, frozen=True, kw_only=True):
    """Where the answer sends its reader."""

    status: Annotated[int, Meta(description="Of the answer.")]
    location: Annotated[str, Meta(description="As sent.")]
    resolved: Annotated[
        str | None, Meta(description="The absolute URL; null when it is none that is allowed.")
    ]
    followed: Annotated[bool, Meta(description="The next hop is its target.")]
    refused_by: RefusedBy | None
    dropped_credentials: Annotated[
        list[str],
        Meta(description="Names of the call's headers that were not sent on: another scheme, host or port."),
    ]


class HopFacts(Struct, frozen=True, kw_only=True):
    """One request and its answer."""

    target: Target
    method: Annotated[str, Meta(description="As sent.")]
    policy: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Profile, rule, and the judgement of each address (full)."),
    ] = UNSET
    resolution: Annotated[
        dict[str, Any] | UnsetType | None,
        Meta(description="How the name became addresses; how: literal|hosts|dns."),
    ] = UNSET
    attempts: Annotated[
        list[dict[str, Any]] | UnsetType,
        Meta(description="Connection attempts; brief: only the one that was used."),
    ] = UNSET
    peer: Annotated[dict[str, Any] | UnsetType | None, Meta(description="The address that answered.")] = UNSET
    local: Annotated[
        dict[str, Any] | UnsetType | None, Meta(description="Our end of the connection (full).")
    ] = UNSET
    connection: Annotated[
        dict[str, Any] | UnsetType | None,
        Meta(description="alpn; closed_by server|client; close: how the server did it."),
    ] = UNSET
    tcp_info: Annotated[
        dict[str, Any] | UnsetType | None, Meta(description="The kernel's TCP_INFO at the end (full).")
    ] = UNSET
    bytes: Bytes
    clock: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Who stamped arrivals, and how good the wall clock is (full)."),
    ] = UNSET
    load: Annotated[
        dict[str, Any] | UnsetType | None,
        Meta(description="Measurements at once and the longest lag of our loop (full)."),
    ] = UNSET
    http_status: Annotated[
        int | None, Meta(description="Null: no status line arrived. With ok=false the head was not complete.")
    ]
    reason: Annotated[str | UnsetType | None, Meta(description="Of the status line.")] = UNSET
    http_version: Annotated[str | UnsetType | None, Meta(description="Of the status line.")] = UNSET
    headers: Annotated[
        list[Annotated[list[str], Meta(min_length=2, max_length=2)]] | UnsetType,
        Meta(description="[name, value] in wire order and case, repeated ones kept."),
    ] = UNSET
    headers_latin1: Annotated[
        list[int] | UnsetType,
        Meta(description="Indexes of headers whose value is not UTF-8 and shown as latin-1."),
    ] = UNSET
    deviations: Annotated[
        list[str] | UnsetType, Meta(description="Where the head departs from the grammar, by name.")
    ] = UNSET
    informational: Annotated[
        list[dict[str, Any]] | UnsetType, Meta(description="1xx answers: status, headers, at_ms.")
    ] = UNSET
    raw_head: Annotated[
        dict[str, Any] | UnsetType | None, Meta(description="The head as it came, first 16 KiB (full).")
    ] = UNSET
    body: Annotated[
        Any, Meta(description="JSON value, text or base64, see body_encoding; null: no bytes.")
    ] = UNSET
    body_encoding: Annotated[
        Literal["json", "text", "base64"] | UnsetType | None, Meta(description="How body is given.")
    ] = UNSET
    body_charset: BodyCharset | UnsetType | None = UNSET
    body_bytes: BodyBytes
    body_sha256: Annotated[
        str | UnsetType | None, Meta(description="Of the bytes counted as body_bytes.encoded (full).")
    ] = UNSET
    truncated: Annotated[
        bool, Meta(description="Our copy was cut at max_body_bytes; says nothing about the transfer.")
    ]
    content_length: Annotated[int | None, Meta(description="As declared; null: not declared.")]
    framing: Annotated[
        Literal["chunked", "length", "close", "none"] | UnsetType | None,
        Meta(description="What ends the message; none: it has no body; null: not known."),
    ] = UNSET
    complete: Annotated[bool, Meta(description="The message arrived to the end that its framing announced.")]
    extra_bytes: Annotated[
        int | UnsetType,
        Meta(description="Bytes that arrived after the end of the message; brief: unless there were none."),
    ] = UNSET
    trailers: Annotated[
        list[Annotated[list[str], Meta(min_length=2, max_length=2)]] | UnsetType,
        Meta(description="Fields behind the last chunk, as headers."),
    ] = UNSET
    content_encoding: Annotated[
        list[str] | UnsetType, Meta(description="Codings, in the order of the headers.")
    ] = UNSET
    timings: Timings
    arrivals: Annotated[
        list[Annotated[list[float], Meta(min_length=2, max_length=2)]] | UnsetType,
        Meta(description="[ms, bytes] of each read of the answer (full)."),
    ] = UNSET
    redirect: Redirect | UnsetType | None = UNSET
    tls: Annotated[
        dict[str, Any] | UnsetType | None, Meta(description="The TLS connection and its certificates.")
    ] = UNSET


Hops = Annotated[
    list[dict[str, Any]],
    Meta(
        description="Each hop in order, with the fields that stand here and its error; brief: the earlier ones."
    ),
]
"""Hops by description: a second schema of the same fields would be a third of what a list of tools costs its reader."""


class Entry(Struct, frozen=True, kw_only=True):
    """One of several measurements."""

    at_ms: Annotated[float, Meta(description="When it began, from the start of the first.")]
    ok: Annotated[bool, Meta(description="The observation could be taken.")]
    error: Annotated[dict[str, Any] | None, Meta(description="What ended it early.")]
    http_status: Annotated[int | None, Meta(description="Null: none arrived.")]
    timings: Timings


class OfAddress(Entry, frozen=True, kw_only=True):
    """The measurement of one address of the answer; with samples, its first one and all of them."""

    ip: Annotated[str, Meta(description="The address.")]
    samples: Annotated[list[Entry] | UnsetType, Meta(description="Each of them, raw.")] = UNSET


class HttpFacts(HopFacts, frozen=True, kw_only=True):
    """The facts of the last hop, and every hop when redirects were followed."""

    kind: Annotated[Literal["http"], Meta(description="Of measurement.")]
    hops: Hops | UnsetType = UNSET
    samples: Annotated[
        list[Entry] | UnsetType, Meta(description="With samples above 1: each of them, raw.")
    ] = UNSET
    by_address: Annotated[
        list[OfAddress] | UnsetType, Meta(description="With addresses all: one entry an address.")
    ] = UNSET
