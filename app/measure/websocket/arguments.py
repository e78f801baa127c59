"""The arguments of `facts.measure.ws`, field by field: the published schema, with limits and defaults."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from app.measure.http1.reach_arguments import ReachParams

Payload = Annotated[str, Meta(max_length=65_536)]


class Binary(Struct, frozen=True, forbid_unknown_fields=True):
    """A binary message to send."""

    base64: Annotated[Payload, Meta(description="Its bytes, base64 (RFC 4648, 4).")]


class WsParams(ReachParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `facts.measure.ws`."""

    url: Annotated[
        str, Meta(max_length=8192, description="ws:// or wss:// URL; user information in it is refused.")
    ]
    subprotocols: Annotated[
        list[Annotated[str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")]],
        Meta(max_length=16, description="Subprotocols to offer, the preferred one first."),
    ] = msgspec.field(default_factory=list)
    send: Annotated[
        list[Payload | Binary],
        Meta(max_length=16, description='Messages to send at once: texts, or {"base64": …} for bytes.'),
    ] = msgspec.field(default_factory=list)
    window_ms: Annotated[
        int,
        Meta(ge=1, le=120_000, description="How long to listen; silence all the while is an observation."),
    ] = 1000
    max_messages: Annotated[
        int, Meta(ge=0, le=10_000, description="Listening ends with this many messages.")
    ] = 100
    max_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=1_048_576,
            description="Listening ends with so many bytes; one longer message is too_large.",
        ),
    ] = 65_536
    follow_redirects: Annotated[
        bool, Meta(description="Each hop is judged by the policy as a new target.")
    ] = False
    max_redirects: Annotated[
        Annotated[int, Meta(ge=0, le=20)] | None,
        Meta(description="Not above the operator's limit, the default."),
    ] = None
