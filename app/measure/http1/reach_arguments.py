"""The arguments that all kinds over HTTP share: whose measurement it is, how the target is reached, how often."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.measure.kind import MeasureParams


class ReachParams(MeasureParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments that say how a measurement reaches its target."""

    project: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=256,
            description="Whose measurement this is; keeps the data of users apart.",
        ),
    ]
    headers: Annotated[
        dict[str, str],
        Meta(max_length=64, description="Sent as written; Host, framing and hop-by-hop headers are refused."),
    ] = msgspec.field(default_factory=dict)
    addresses: Annotated[
        Literal["first", "all"],
        Meta(description="first: the first address that connects; all: each address of the answer in turn."),
    ] = "first"
    connect_to: Annotated[
        Annotated[str, Meta(max_length=512)] | None,
        Meta(
            description="host:port to connect to instead; the URL's host stays Host and SNI. First hop only."
        ),
    ] = None
    source: Annotated[
        Annotated[str, Meta(max_length=64)] | None,
        Meta(description="The local IP address to connect from."),
    ] = None
    verify: Annotated[
        Literal["strict", "observe"],
        Meta(
            description="observe: go on after a bad certificate and say what was wrong; no secret headers then."
        ),
    ] = "strict"
    samples: Annotated[
        int, Meta(ge=1, le=20, description="Measurements in a row; raw timings of each in samples.")
    ] = 1
    interval_ms: Annotated[int, Meta(ge=0, le=60_000, description="Between the starts of two samples.")] = 0
    timeout_ms: Annotated[
        int, Meta(ge=1, le=120_000, description="For the whole measurement: all hops, all samples.")
    ] = 10_000
    connect_timeout_ms: Annotated[
        Annotated[int, Meta(ge=1, le=120_000)] | None, Meta(description="For each attempt to connect.")
    ] = None
    detail: Annotated[
        Literal["brief", "full"],
        Meta(
            description="full adds every attempt, the raw head, arrivals, TCP_INFO, all certificates, clocks."
        ),
    ] = "brief"
