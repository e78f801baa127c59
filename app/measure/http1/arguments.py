"""The arguments of `facts.measure.http`, field by field: the published schema, with limits and defaults."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.measure.kind import MeasureParams


class HttpParams(MeasureParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `facts.measure.http`."""

    project: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=256,
            description="Whose measurement this is; keeps the data of users apart.",
        ),
    ]
    url: Annotated[
        str, Meta(max_length=8192, description="http:// or https:// URL; user information in it is refused.")
    ]
    method: Annotated[
        str,
        Meta(
            pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$",
            description="Sent as written; the operator decides which are allowed.",
        ),
    ] = "GET"
    headers: Annotated[
        dict[str, str],
        Meta(max_length=64, description="Sent as written; Host, framing and hop-by-hop headers are refused."),
    ] = msgspec.field(default_factory=dict)
    body: Annotated[
        Annotated[str, Meta(max_length=1_048_576)] | None,
        Meta(description="Sent as UTF-8; set Content-Type yourself."),
    ] = None
    follow_redirects: Annotated[
        bool, Meta(description="Each hop is judged by the policy as a new target.")
    ] = False
    max_redirects: Annotated[
        Annotated[int, Meta(ge=0, le=20)] | None,
        Meta(description="Not above the operator's limit, the default."),
    ] = None
    timeout_ms: Annotated[int, Meta(ge=1, le=120_000, description="For the whole measurement, all hops.")] = (
        10_000
    )
    connect_timeout_ms: Annotated[
        Annotated[int, Meta(ge=1, le=120_000)] | None, Meta(description="For each attempt to connect.")
    ] = None
    max_body_bytes: Annotated[
        int, Meta(ge=0, le=1_048_576, description="Decoded bytes of the body that are answered and stored.")
    ] = 16_384
    read_limit_bytes: Annotated[
        int, Meta(ge=0, le=104_857_600, description="Bytes of the body that are read, timed and hashed.")
    ] = 10_485_760
    detail: Annotated[
        Literal["brief", "full"],
        Meta(description="full adds every attempt, our address, the hash, the policy's checks."),
    ] = "brief"
