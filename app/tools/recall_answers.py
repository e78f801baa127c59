"""The schemas of what the recall tools answer; every field says what it is."""

from __future__ import annotations

from typing import Final

from app.tools.tool import Schema


def _object(description: str, properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _nullable(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


AGE: Final[Schema] = {
    "age_seconds": {"type": "number", "minimum": 0, "description": "Time since then, never negative."},
    "age_basis": {
        "enum": ["monotonic", "wall_clock"],
        "description": "monotonic: this process saw it; wall_clock: by the times that were written.",
    },
}
ANSWER: Final[Schema] = {
    "project": _text("The project, normalised."),
    "observed_at": _text("When this answer was given, RFC 3339 with offset."),
}
REMEASURE: Final = _object(
    "How to measure again.",
    {
        "tool": _text("The tool to call."),
        "arguments": {"type": "object", "description": "Its arguments, without secrets."},
        "omitted": {
            "type": "array",
            "items": {"type": "string", "description": "A JSON Pointer into the arguments."},
            "description": "What was masked and has to be put in again.",
        },
    },
)
EVIDENCE: Final = _object(
    "One thing that a claim rests on, as it was when the claim was made.",
    {
        "type": {"enum": ["observation", "claim", "note"], "description": "What it is."},
        "observation_id": _text("Of a measurement."),
        "claim_id": _text("Of a claim."),
        "observed_at": _text("Start of the measurement."),
        "asserted_at": _text("When the cited claim was made."),
        **AGE,
        "tool": _text("What measured."),
        "arguments": {
            "type": "object",
            "description": "What it was called with, secrets masked; detail full only.",
        },
        "ok": {"type": "boolean", "description": "Whether the observation could be taken; nothing else."},
        "error": {"type": ["object", "null"], "description": "What ended the measurement early."},
        "data": {
            "type": ["object", "null"],
            "description": "What was measured; detail brief keeps short values.",
        },
        "remeasure_with": REMEASURE,
        "statement": _text("Of the cited claim."),
        "observed_by": _text("Who made the cited claim."),
        "tags": {"type": "array", "items": _text("One tag."), "description": "Of the cited claim."},
        "text": _text("Of a note."),
    },
)
EVIDENCE["required"] = ["type", *AGE]
RETRACTION: Final[Schema] = {
    "retraction_id": _text("r_ and a ULID."),
    "claim_id": _text("The claim that was taken back."),
    "reason": _text("Why."),
    "retracted_by": _nullable(_text("Who took it back; null if nobody said.")),
    "retracted_at": _text("When, RFC 3339 with offset."),
    **AGE,
}
CLAIM: Final[Schema] = {
    "claim_id": _text("c_ and a ULID."),
    "statement": _text("What was stated."),
    "evidence": {"type": "array", "items": EVIDENCE, "description": "What it rests on, embedded."},
    "observed_by": _text("Who stated it."),
    "tags": {"type": "array", "items": _text("One tag."), "description": "As given."},
    "about": {"type": "object", "description": "What it says about an entity, in parts."},
    "source": _text("Where it was learned, if that was said."),
    "idempotency_key": _text("As given."),
    "asserted_at": _text("When it was stored, RFC 3339 with offset."),
    **AGE,
    "stale": {
        "type": "boolean",
        "description": "Arithmetic: the oldest cited measurement (without one: the claim) is older than the limit.",
    },
    "retracted": {"type": "boolean", "description": "Whether somebody took it back."},
    "retraction": {
        **_object("By whom and why it was taken back.", RETRACTION),
        "type": ["object", "null"],
    },
    "remeasure_with": {**REMEASURE, "type": ["object", "null"]},
}
_OPTIONAL: Final = ("about", "source", "idempotency_key")

ASSERTED: Final = _object(
    "The claim as it is stored.",
    {
        **ANSWER,
        "created": {
            "type": "boolean",
            "description": "False: the same claim was there already, and is answered.",
        },
        **CLAIM,
    },
    _OPTIONAL,
)
RETRACTED: Final = _object("The retraction as it is stored.", {**ANSWER, **RETRACTION})
QUERIED: Final = _object(
    "One page of claims.",
    {
        **ANSWER,
        "claims": {
            "type": "array",
            "items": _object("One claim.", CLAIM, _OPTIONAL),
            "description": "In the order asked for.",
        },
        "matched": {
            "type": "integer",
            "description": "How many claims match. order match pages through the newest 2000 of them.",
        },
        "matched_is_exact": {
            "type": "boolean",
            "description": "False: there are more, the index is building, or the clock was set.",
        },
        "next_cursor": _nullable(_text("For the next page; null: this is the last.")),
        "index": _object(
            "What the answer was found in.",
            {
                "state": {
                    "enum": ["current", "building"],
                    "description": "building: claims behind position are not in this answer.",
                },
                "position": {"type": "integer", "description": "Bytes of claims.jsonl that are indexed."},
                "of": {"type": "integer", "description": "Bytes that there are."},
            },
        ),
    },
)
HISTORY: Final = _object(
    "Everything that was written about one claim.",
    {
        **ANSWER,
        "claim_id": _text("c_ and a ULID."),
        "events": {
            "type": "array",
            "items": _object(
                "One line of claims.jsonl.",
                {
                    "position": {"type": "integer", "description": "The byte at which the line begins."},
                    "line_sha256": _text("SHA-256 of the line without its line feed, in hex."),
                    "line": _text("The line as stored, byte for byte."),
                    "event": {"type": "object", "description": "The same line, parsed."},
                    "recorded_at": _nullable(
                        _text("When it was written; null where a later version says it.")
                    ),
                    "age_seconds": {
                        "type": ["number", "null"],
                        "minimum": 0,
                        "description": "Time since then, never negative.",
                    },
                    "age_basis": {
                        "enum": ["monotonic", "wall_clock", None],
                        "description": "The clock behind age_seconds.",
                    },
                },
            ),
            "description": "In the order of the log.",
        },
    },
)
