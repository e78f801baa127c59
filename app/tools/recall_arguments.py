"""The arguments of the recall tools."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.records.claims import Order, Retracted

Project = Annotated[
    str,
    Meta(min_length=1, max_length=256, description="Whose claims these are; keeps the data of users apart."),
]
Instant = Annotated[str, Meta(max_length=64)]
Tag = Annotated[str, Meta(min_length=1, max_length=128)]
Id = Annotated[str, Meta(min_length=1, max_length=64)]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all four have in common."""

    project: Project


class ObservationRef(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="observation"
):
    """A stored measurement of this project."""

    observation_id: Annotated[Id, Meta(description="observation_id of a measurement: o_ and a ULID.")]


class ClaimRef(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="claim"
):
    """An earlier claim of this project."""

    claim_id: Annotated[Id, Meta(description="c_ and a ULID.")]


class Note(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="note"
):
    """What was read or seen elsewhere, in words."""

    text: Annotated[str, Meta(min_length=1, description="Kept as given, but for secrets.")]


Evidence = ObservationRef | ClaimRef | Note


class AssertArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is stated, on which evidence, by whom."""

    statement: Annotated[
        str,
        Meta(
            min_length=1, max_length=8192, description="One conclusion, in a sentence that stands by itself."
        ),
    ]
    observed_by: Annotated[
        str,
        Meta(min_length=1, max_length=256, description="Who concluded it: the name of an agent or a person."),
    ]
    evidence: Annotated[
        list[Evidence],
        Meta(
            max_length=20,
            description="What it rests on; measurements and claims are embedded as they are stored.",
        ),
    ] = msgspec.field(default_factory=list)
    tags: Annotated[list[Tag], Meta(max_length=32, description="Words to find it by, compared exactly.")] = (
        msgspec.field(default_factory=list)
    )
    source: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(description="Where it was learned, when that is not the asserter: one name for one source."),
    ] = None
    idempotency_key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(
            description="With the same key and content the first claim is answered; other content is a conflict."
        ),
    ] = None
    detail: Annotated[
        Literal["brief", "full"], Meta(description="brief: without what the cited measurements found.")
    ] = "full"


class RetractArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which claim is taken back, and why."""

    claim_id: Annotated[Id, Meta(description="c_ and a ULID.")]
    reason: Annotated[str, Meta(min_length=1, max_length=8192, description="Why it does not hold.")]
    retracted_by: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None, Meta(description="Who takes it back.")
    ] = None


class HistoryArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which claim."""

    claim_id: Annotated[Id, Meta(description="c_ and a ULID.")]


class QueryArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which claims; everything given has to hold."""

    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1024)] | None,
        Meta(description='Of statements: words, "phrases", prefix*, -not. All of them have to match.'),
    ] = None
    tags: Annotated[list[Tag], Meta(max_length=32, description="All of these tags.")] = msgspec.field(
        default_factory=list
    )
    any_tags: Annotated[list[Tag], Meta(max_length=32, description="At least one of these tags.")] = (
        msgspec.field(default_factory=list)
    )
    observed_by: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None, Meta(description="Asserted by this one.")
    ] = None
    target: Annotated[
        Annotated[str, Meta(min_length=1, max_length=512)] | None,
        Meta(description="host:port, IPv6 in brackets: a cited measurement was pointed at it."),
    ] = None
    asserted_after: Annotated[
        Instant | None, Meta(description="RFC 3339 with offset; asserted then or later.")
    ] = None
    asserted_before: Annotated[Instant | None, Meta(description="RFC 3339 with offset; asserted before.")] = (
        None
    )
    stale: Annotated[
        bool | None, Meta(description="Only claims whose oldest cited measurement is, or is not, too old.")
    ] = None
    stale_after_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=1e10)] | None,
        Meta(description="The age from which stale is said; default: the operator's."),
    ] = None
    retracted: Annotated[Retracted, Meta(description="What to do with claims that were taken back.")] = (
        "exclude"
    )
    order: Annotated[
        Order,
        Meta(description="match: the index's text order over the newest 2000 hits; needs text."),
    ] = "newest"
    limit: Annotated[int, Meta(ge=1, le=100, description="Claims in one answer.")] = 20
    cursor: Annotated[
        Annotated[str, Meta(max_length=512)] | None,
        Meta(description="next_cursor of the page before, with the same other arguments."),
    ] = None
    detail: Annotated[
        Literal["brief", "full"],
        Meta(description="brief: without bodies and lists of cited measurements; full: everything embedded."),
    ] = "brief"
