"""What the server offers, as encoded bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from app.errors import RequestError, StartError
from app.mcp.catalog import Catalog, Identity, ToolFace
from app.mcp.revisions import load

REVISIONS = load()
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "facts-mcp", "version": "0.1.0"}}
MEMBERS = {
    "2024-11-05": {"name", "description", "inputSchema"},
    "2025-03-26": {"name", "description", "inputSchema", "annotations"},
    "2025-06-18": {"name", "description", "inputSchema", "annotations", "title", "outputSchema"},
    "2025-11-25": {"name", "description", "inputSchema", "annotations", "title", "outputSchema"},
    "2026-07-28": {"name", "description", "inputSchema", "annotations", "title", "outputSchema"},
}

Faces = Callable[[str], ToolFace]


def catalog(*tools: ToolFace, instructions: str | None = None) -> Catalog:
    return Catalog(Identity("facts-mcp", "0.1.0", instructions), tools, REVISIONS)


def test_a_tool_is_found_by_either_name(make_face: Faces) -> None:
    http = make_face("facts.measure.http")
    offered = catalog(http)

    assert [offered.find("facts.measure.http"), offered.find("facts_measure_http")] == [http, http]


def test_a_tool_that_is_listed_with_dots_is_found_by_either_name(make_face: Faces) -> None:
    http = replace(make_face("facts.measure.http"), wire_name="facts.measure.http")
    offered = catalog(http)

    assert [offered.find("facts.measure.http"), offered.find("facts_measure_http")] == [http, http]


def test_an_unknown_tool_is_named_but_not_at_any_length(make_face: Faces) -> None:
    with pytest.raises(RequestError) as refused:
        catalog(make_face("ingest")).find("x" * 1000)

    assert (refused.value.code, refused.value.message) == (-32602, "Unknown tool: " + "x" * 128)


def test_two_tools_with_one_name_stop_the_start(make_face: Faces) -> None:
    with pytest.raises(StartError) as stopped:
        catalog(make_face("facts.a_b"), make_face("facts.a.b"))

    assert stopped.value.lines == ("two tools would be called facts_a_b: facts.a_b and facts.a.b",)


@pytest.mark.parametrize("name", ["1a", "_a", "a-b", "a" * 41, "", "a b", "a\n"])
def test_a_name_that_hosts_refuse_stops_the_start(name: str, make_face: Faces) -> None:
    with pytest.raises(StartError) as stopped:
        catalog(make_face(name))

    assert stopped.value.lines == (
        f"{name!r} is no name for a tool: a letter, then up to 39 letters, digits, '_' or '.'",
    )


@pytest.mark.parametrize("member", ["input_schema", "output_schema"])
def test_a_schema_that_is_no_object_stops_the_start(member: str, make_face: Faces) -> None:
    changed: dict[str, Any] = {member: {"anyOf": []}}

    with pytest.raises(StartError) as stopped:
        catalog(replace(make_face("ingest"), **changed))

    assert stopped.value.lines == ("ingest: the root of a schema must have type object",)


@pytest.mark.parametrize("version", REVISIONS)
def test_a_tool_is_listed_with_what_the_revision_knows(version: str, make_face: Faces) -> None:
    listed = json.loads(catalog(make_face("facts.a")).listed(REVISIONS[version]))

    assert set(listed["tools"][0]) == MEMBERS[version]


def test_the_list_keeps_the_order_and_says_how_long_it_lives(make_face: Faces) -> None:
    listed = json.loads(catalog(make_face("b.b"), make_face("a.a")).listed(REVISIONS["2026-07-28"]))

    assert [tool.pop("name") for tool in listed["tools"]] == ["b_b", "a_a"]
    assert listed == {
        "resultType": "complete",
        "tools": [
            {
                "title": "A title",
                "description": "A description.",
                "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}},
                "outputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
            }
        ]
        * 2,
        "ttlMs": 300_000,
        "cacheScope": "public",
        "_meta": SERVER,
    }


def test_a_list_is_encoded_once_a_revision(make_face: Faces) -> None:
    offered = catalog(make_face("ingest"))

    assert offered.listed(REVISIONS["2026-07-28"]) is offered.listed(REVISIONS["2026-07-28"])


def test_a_list_after_a_handshake_has_nothing_of_the_stateless_era(make_face: Faces) -> None:
    assert set(json.loads(catalog(make_face("a")).listed(REVISIONS["2025-11-25"]))) == {"tools"}


def test_a_probe_is_told_versions_capabilities_and_instructions() -> None:
    assert json.loads(catalog(instructions="Measure.").discovered(REVISIONS["2026-07-28"])) == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": "Measure.",
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "_meta": SERVER,
    }


def test_a_handshake_is_told_the_same_in_its_own_words() -> None:
    assert json.loads(catalog().initialized(REVISIONS["2024-11-05"])) == {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "facts-mcp", "version": "0.1.0"},
    }


def test_an_answer_is_text_and_structured_content_at_once() -> None:
    content = '{"a":"\\"é\\n"}'.encode()
    body = catalog().called(REVISIONS["2026-07-28"], content, is_error=False)

    assert json.loads(body) == {
        "resultType": "complete",
        "content": [{"type": "text", "text": content.decode()}],
        "structuredContent": {"a": '"é\n'},
        "isError": False,
        "_meta": SERVER,
    }


def test_an_old_revision_gets_the_text_alone() -> None:
    body = catalog().called(REVISIONS["2025-03-26"], b'{"a":1}', is_error=True)

    assert body == b'{"content":[{"type":"text","text":"{\\"a\\":1}"}],"isError":true}'
