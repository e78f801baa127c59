"""The published schema of the facts."""

from __future__ import annotations

import msgspec

from app.measure.http1.facts import HttpFacts


def test_every_field_of_the_schema_says_what_it_is() -> None:
    schema = msgspec.json.schema(HttpFacts)["$defs"]

    assert [name for name, definition in schema.items() if not definition.get("description")] == []
