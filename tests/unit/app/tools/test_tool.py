"""What every tool shares: schemas, validation that names the field, and names for the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.errors import ToolError
from app.tools.tool import ERROR, Context, Tool, inline, validate, wire_name


class Params(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    project: Annotated[str, msgspec.Meta(min_length=1, max_length=8, description="Whose data.")]
    timeout_ms: Annotated[int, msgspec.Meta(ge=1, le=100, description="Deadline.")] = 10
    headers: dict[str, str] = {}
    detail: Literal["brief", "full"] = "brief"


class Word(msgspec.Struct, tag_field="type", tag="word"):
    text: str


class Number(msgspec.Struct, tag_field="type", tag="number"):
    digits: str


class Either(msgspec.Struct):
    parts: list[Word | Number]


async def nothing(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
    return {}


VALIDATOR = Draft202012Validator(inline(msgspec.json.schema(Params)))


def tool(name: str) -> Tool:
    return Tool(name, "Title", "Description", Params, {"type": "object"}, {"readOnlyHint": True}, nothing)


def test_well_formed_arguments_become_a_typed_value() -> None:
    assert validate(Params, {"project": "p", "timeout_ms": 5}) == Params(project="p", timeout_ms=5)


def test_a_whole_number_may_be_written_as_a_fraction() -> None:
    assert validate(Params, {"project": "p", "timeout_ms": 50.0}).timeout_ms == 50


@pytest.mark.parametrize(
    ("arguments", "field", "expected"),
    [
        ({}, "project", '"type":"string"'),
        ({"project": 1}, "project", "Expected `str`, got `int`"),
        ({"project": ""}, "project", "length >= 1"),
        ({"project": "p", "timeout_ms": 0}, "timeout_ms", "`int` >= 1"),
        ({"project": "p", "timeout_ms": 101}, "timeout_ms", "`int` <= 100"),
        ({"project": "p", "timeout_ms": "5"}, "timeout_ms", "Expected `int`, got `str`"),
        ({"project": "p", "timeout_ms": True}, "timeout_ms", "Expected `int`, got `bool`"),
        ({"project": "p", "timeout_ms": 1.5}, "timeout_ms", "Expected `int`"),
        ({"project": "p", "timeout_ms": None}, "timeout_ms", "Expected `int`, got `null`"),
        ({"project": "p", "headers": {"a": 1}}, "headers.a", "Expected `str`, got `int`"),
        ({"project": "p", "detail": "whole"}, "detail", '"enum":["brief","full"]'),
        ({"project": "p", "verify": "observe"}, "verify", "the arguments are project, timeout_ms"),
    ],
)
def test_a_malformed_argument_is_named_with_what_is_expected(
    arguments: dict[str, Any], field: str, expected: str
) -> None:
    with pytest.raises(ToolError) as refused:
        validate(Params, arguments)

    assert (refused.value.code, refused.value.field) == ("invalid_arguments", field)
    assert expected in refused.value.message


def test_the_published_schema_refuses_what_validation_refuses() -> None:
    validator = Draft202012Validator(tool("facts.measure.http").input_schema())
    malformed: list[dict[str, Any]] = [
        {},
        {"project": ""},
        {"project": "p", "timeout_ms": 0},
        {"project": "p", "x": 1},
        {"project": "p", "detail": "whole"},
    ]

    assert [validator.is_valid(arguments) for arguments in malformed] == [False] * 5
    assert validator.is_valid({"project": "p"})


@given(
    arguments=st.dictionaries(
        st.sampled_from(["project", "timeout_ms", "headers", "detail", "other"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(-5, 200),
            st.floats(-5, 200),
            st.sampled_from(["", "p", "full"]),
            st.dictionaries(
                st.text(max_size=3), st.one_of(st.text(max_size=3), st.integers(0, 3)), max_size=2
            ),
        ),
    )
)
@settings(suppress_health_check=[HealthCheck.too_slow])  # the first draw reads the tables of Unicode
def test_validation_and_the_published_schema_are_of_one_mind(arguments: dict[str, Any]) -> None:
    try:
        validate(Params, arguments)
        accepted = True
    except ToolError:
        accepted = False

    assert accepted is VALIDATOR.is_valid(arguments)


def test_the_input_schema_is_an_object_at_its_root() -> None:
    schema = tool("facts.measure.http").input_schema()

    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert schema["properties"]["timeout_ms"]["description"] == "Deadline."


def test_the_output_schema_is_the_answer_or_the_error() -> None:
    assert tool("t").output_schema() == {"type": "object", "anyOf": [{"type": "object"}, ERROR]}


def test_references_resolve_from_the_root_of_the_output_schema() -> None:
    answer = {
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "$defs": {"A": {"type": "integer"}},
    }
    schema = replace(tool("t"), answer=answer).output_schema()

    assert [Draft202012Validator(schema).is_valid({"a": value}) for value in (1, "1")] == [True, False]


@pytest.mark.parametrize("part", [{}, {"type": "word"}, {"type": "word", "text": 1}, {"type": "picture"}])
def test_what_is_wrong_inside_an_argument_is_reported_under_its_name(part: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as refused:
        validate(Either, {"parts": [part]})

    assert refused.value.field == "parts"


def test_what_tells_the_members_of_a_union_apart_is_described_too() -> None:
    definitions = inline(msgspec.json.schema(Either))["$defs"]

    assert definitions["Word"]["properties"]["type"] == {"description": "What it is.", "enum": ["word"]}
    assert definitions["Number"]["properties"]["digits"] == {"type": "string"}


def test_every_error_content_is_valid_for_its_schema() -> None:
    full = ToolError("busy", "m", field="f", reason_code="r", retry_after_seconds=1.0, details={"a": 1})

    for error in (full, ToolError("conflict", "m")):
        Draft202012Validator(ERROR).validate(error.content())


def test_a_name_is_advertised_without_dots_unless_asked_for() -> None:
    assert wire_name("facts.measure.http", "underscores") == "facts_measure_http"
    assert wire_name("facts.measure.http", "dots") == "facts.measure.http"
