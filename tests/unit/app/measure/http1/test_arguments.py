"""The schema of the arguments refuses what no server could do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.measure.http1.arguments import HttpParams

URL = "http://10.0.0.1/"


@pytest.mark.parametrize(
    "arguments",
    [
        {"project": ""},
        {"project": "p" * 257},
        {"url": "http://a/" + "a" * 8192},
        {"method": "GET /"},
        {"method": ""},
        {"headers": {"a": 1}},
        {"headers": {str(number): "a" for number in range(65)}},
        {"max_redirects": 21},
        {"timeout_ms": 0},
        {"timeout_ms": 120_001},
        {"connect_timeout_ms": 0},
        {"max_body_bytes": 1_048_577},
        {"read_limit_bytes": -1},
        {"detail": "some"},
        {"verify": "off"},
        {"addresses": "some"},
        {"samples": 0},
        {"samples": 21},
        {"interval_ms": 60_001},
        {"no_such_argument": 1},
    ],
)
def test_arguments_outside_the_schema_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"project": "p", "url": URL, **arguments}, HttpParams)


def test_every_argument_has_a_description() -> None:
    properties = msgspec.json.schema(HttpParams)["$defs"]["HttpParams"]["properties"]

    assert [name for name, argument in properties.items() if not argument.get("description")] == []


def test_only_project_and_url_are_required() -> None:
    assert msgspec.json.schema(HttpParams)["$defs"]["HttpParams"]["required"] == ["project", "url"]
