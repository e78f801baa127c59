"""The facts of an HTTP measurement, field by field: the published schema, and what `brief` may leave out.

Fields without a default are always there. Everything is a fact or null; null means that it did not happen or is
not known, never that it is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field


class Target(Struct, frozen=True, kw_only=True):
    """What was measured, as it was understood."""

    input: Annotated[str, Meta(description="The URL of the call, or the Location of a redirect, as written.")]
    scheme: str
    host: Annotated[str, Meta(description="A-labels in lower case, or an address without brackets.")]
    port: int
    path: Annotated[str, Meta(description="Path and query as sent.")]
    literal: Annotated[bool, Meta(description="The host is an address: nothing was looked up.")]


class Timings(Struct, frozen=True, kw_only=True):
    """Durations in milliseconds; null: the phase did not happen. Phases and other_ms add up to the hop's total."""

    resolve_ms: float | None
    connect_ms: float | None
    tls_ms: float | None
    send_ms: float | None
    first_byte_ms: Annotated[
        float | None, Meta(description="From the request sent to the first byte received.")
    ]
    head_ms: Annotated[float | None, Meta(description="From the first byte to the end of the final head.")]
    body_ms: float | None
    other_ms: float
    total_ms: Annotated[float, Meta(description="At the top: the sum over all hops.")]


class Bytes(Struct, frozen=True, kw_only=True):
    """Bytes on the connection, heads and TLS records included."""

    sent: int
    received: int


class BodyBytes(Struct, frozen=True, kw_only=True):
    """Sizes of the body that arrived."""

    encoded: Annotated[int, Meta(description="Bytes received, without chunk framing, still content-encoded.")]
    decoded: Annotated[
        int | None, Meta(description="Bytes without content codings; null: not decodable here.")
    ]
    decoded_at_least: Annotated[bool, Meta(description="The decoded size is a lower bound.")]


class BodyCharset(Struct, frozen=True, kw_only=True):
    """How a text body was read."""

    name: str
    origin: Literal["bom", "header", "default"] = field(name="from")
    replaced: Annotated[bool, Meta(description="Some bytes were not such text and show as U+FFFD.")]


class RefusedBy(Struct, frozen=True, kw_only=True):
    """Why a redirect was not followed although the call asked for it."""

    url: str
    address: str | None
    class_: str | None = field(name="class")
    rule: str


class Redirect(Struct, frozen=True, kw_only=True):
    """Where the answer sends its reader."""

    status: int
    location: Annotated[str, Meta(description="As sent.")]
    resolved: Annotated[
        str | None, Meta(description="The absolute URL; null when it is none that is allowed.")
    ]
    followed: bool
    refused_by: RefusedBy | None
    dropped_credentials: Annotated[
        list[str],
        Meta(description="Names of the call's headers that were not sent on: another scheme, host or port."),
    ]


class HopFacts(Struct, frozen=True, kw_only=True):
    """One request and its answer."""

    target: Target
    method: str
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
    bytes: Bytes
    http_status: Annotated[int | None, Meta(description="Null: no complete response head arrived.")]
    reason: str | UnsetType | None = UNSET
    http_version: str | UnsetType | None = UNSET
    headers: Annotated[
        list[Annotated[list[str], Meta(min_length=2, max_length=2)]] | UnsetType,
        Meta(description="[name, value] in wire order and case, repeated ones kept."),
    ] = UNSET
    headers_latin1: Annotated[
        list[int] | UnsetType,
        Meta(description="Indexes of headers whose value is not UTF-8 and shown as latin-1."),
    ] = UNSET
    body: Annotated[
        Any, Meta(description="JSON value, text or base64, see body_encoding; null: no bytes.")
    ] = UNSET
    body_encoding: Literal["json", "text", "base64"] | UnsetType | None = UNSET
    body_charset: BodyCharset | UnsetType | None = UNSET
    body_bytes: BodyBytes
    body_sha256: Annotated[
        str | UnsetType | None, Meta(description="Of the bytes counted as body_bytes.encoded (full).")
    ] = UNSET
    truncated: Annotated[
        bool, Meta(description="Our copy was cut at max_body_bytes; says nothing about the transfer.")
    ]
    content_length: Annotated[int | None, Meta(description="As declared; null: not declared.")]
    complete: Annotated[bool, Meta(description="The message arrived to the end that its framing announced.")]
    extra_bytes: Annotated[int, Meta(description="Bytes that arrived after the end of the message.")]
    content_encoding: list[str] | UnsetType = UNSET
    timings: Timings
    redirect: Redirect | UnsetType | None = UNSET
    tls: dict[str, Any] | UnsetType | None = UNSET


class EarlierHop(HopFacts, frozen=True, kw_only=True):
    """One hop of several; the last leaves out `body`, which stands at the top."""

    error: dict[str, Any] | UnsetType | None = UNSET


class HttpFacts(HopFacts, frozen=True, kw_only=True):
    """The facts of the last hop, and every hop when redirects were followed."""

    kind: Literal["http"]
    hops: list[EarlierHop] | UnsetType = UNSET


LONGEST_BRIEF_TEXT = 1024
_WHOLE = frozenset({"body"})
_OF_TARGET = frozenset({"target", "redirect", "refused_by"})
_FULL_ONLY = frozenset({"policy", "local", "body_sha256"})
_OPTIONAL = frozenset(
    {
        "resolution",
        "peer",
        "reason",
        "http_version",
        "body_encoding",
        "body_charset",
        "redirect",
        "tls",
        "error",
    }
)


def brief(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without what an agent rarely reads: it pays for every token; the whole is what is stored."""
    kept = {name: _short(name, value) for name, value in facts.items() if not _is_left_out(name, value)}
    if "attempts" in kept:
        kept["attempts"] = _used(kept["attempts"])
    if isinstance(kept.get("tls"), dict):
        kept["tls"] = _leaf_only(kept["tls"])
    if "hops" in kept:
        kept["hops"] = [brief(hop) for hop in kept["hops"]]
    return kept


def _short(name: str, value: Any) -> Any:
    """Long texts of the target cut with a mark; the body has a limit of its own, and the whole is stored."""
    if isinstance(value, str) and name not in _WHOLE and len(value) > LONGEST_BRIEF_TEXT:
        return f"{value[:LONGEST_BRIEF_TEXT]}… ({len(value)} characters; detail full has all)"
    if isinstance(value, list) and name == "headers":
        return [[_short("", part) for part in pair] for pair in value]
    if isinstance(value, dict) and name in _OF_TARGET:
        return {inner: _short(inner, part) for inner, part in value.items()}
    return value


def _is_left_out(name: str, value: Any) -> bool:
    if name == "body":
        return False
    return name in _FULL_ONLY or (value is None and name in _OPTIONAL) or value == []


def _used(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attempt that was used; all of them when none was, since they say why."""
    return [attempt for attempt in attempts if attempt.get("used")] or attempts


def _leaf_only(tls: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[:1] if name == "chain" else value for name, value in tls.items()}
