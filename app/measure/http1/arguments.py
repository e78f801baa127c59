"""The arguments of `facts.measure.http`, field by field: the published schema, with limits and defaults."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from app.measure.http1.reach_arguments import ReachParams


class HttpParams(ReachParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `facts.measure.http`."""

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
    max_body_bytes: Annotated[
        int, Meta(ge=0, le=1_048_576, description="Decoded bytes of the body that are answered and stored.")
    ] = 16_384
    read_limit_bytes: Annotated[
        int, Meta(ge=0, le=104_857_600, description="Bytes of the body that are read, timed and hashed.")
    ] = 10_485_760
