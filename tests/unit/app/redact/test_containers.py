"""Lists and objects under a sensitive name."""

from __future__ import annotations

import pytest

from app.redact.containers import container, is_of_a_schema
from app.redact.names import Name

FIELD = Name("field")

CONTAINERS = {
    "a list": ('["a", 1, true, null, "b"] "c"', ["a", "1", "b"]),
    "a nested object": ("{'a': {'b': ['c']}, 'd': 1, 'e': ''}", ["c", "1", ""]),
    "a cut object": ('{"a": ["b", {"c": "d', ["b", "d"]),
    "words that say there is none": ('{"type": "basic", "user": "s3"}', ["s3"]),
    "a schema": ('{"description": "of x1", "minLength": 8, "type": "string", "example": "s3"}', ["s3"]),
    "a schema in a schema": ('{"type": "object", "a": {"type": "string", "title": "A1"}, "title": "B1"}', []),
    "a cut schema": ('{"type": "string", "title": "A1', []),
    "a description without a type": ('{"description": "of x1", "type": "s3"}', ["of x1", "s3"]),
    "a type that is a list": ('{"description": "of x1", "type": ["string"]}', ["of x1"]),
}


@pytest.mark.parametrize(("text", "secrets"), CONTAINERS.values(), ids=CONTAINERS)
def test_the_strings_and_numbers_inside_are_found(text: str, secrets: list[str]) -> None:
    spans, _ = container(text, 0, FIELD)

    assert [text[span.start : span.end] for span in spans] == secrets


def test_numbers_under_a_countable_name_are_counts() -> None:
    assert container("[17, 's3']", 0, Name("field", countable=True))[0] == [(6, 8, "field", None)]


@pytest.mark.parametrize(("text", "end"), [("x[1]{2}", 4), ("x[1", 3)], ids=["closed", "cut"])
def test_a_container_ends_with_its_bracket_or_the_text(text: str, end: int) -> None:
    assert container(text, 1, FIELD)[1] == end


def test_a_word_of_a_schema_beside_a_type_only_describes() -> None:
    beside = [("title", "string"), ("title", "s3"), ("title", ["string"]), ("x", "string"), (1, "string")]

    assert [is_of_a_schema(*pair) for pair in beside] == [True, False, False, False, False]
