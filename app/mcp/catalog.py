"""What the server offers, encoded once for each revision: who it is and which tools it has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from app.errors import RequestError, StartError
from app.mcp.era import PREFIX, stateless_versions
from app.mcp.jsonrpc import INVALID_PARAMS
from app.mcp.revision import Revision

# Hosts put a prefix of their own before a name and cut at 60 or 64 characters.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,39}")
ECHOED_NAME_AT_MOST: Final = 128

_ENCODER = msgspec.json.Encoder()


class Identity(msgspec.Struct, frozen=True):
    """Who the server says it is, and what a model should know before its first call."""

    name: str
    version: str
    instructions: str | None = None


class ToolFace(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is advertised: `name` is the canonical dotted one, `wire_name` the one in the list.

    The schemas are JSON Schema 2020-12 objects whose root has `type: object`.
    """

    name: str
    wire_name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    annotations: Mapping[str, Any]


class Catalog:
    """The offer of one server; conversations share it, and with it the encoded bodies."""

    def __init__(
        self, server: Identity, tools: Sequence[ToolFace], revisions: Mapping[str, Revision]
    ) -> None:
        """StartError when two tools share a name, or a name or schema is not fit for the wire."""
        self.revisions = revisions
        self._server = server
        self._tools = tuple(tools)
        self._by_name = _by_name(self._tools)
        self._listed: dict[str, bytes] = {}
        info = {PREFIX + "serverInfo": _info(server)}
        self.server_meta = _ENCODER.encode(info)

    def find(self, name: str) -> ToolFace:
        """The tool with this name, dotted or as advertised; RequestError when there is none."""
        face = self._by_name.get(name)
        if face is None:
            raise RequestError(INVALID_PARAMS, f"Unknown tool: {name[:ECHOED_NAME_AT_MOST]}")
        return face

    def initialized(self, revision: Revision) -> bytes:
        """The result of `initialize`."""
        return _ENCODER.encode(
            {
                "protocolVersion": revision.version,
                "capabilities": {"tools": {}},
                "serverInfo": _info(self._server),
                **_instructions(self._server),
            }
        )

    def discovered(self, revision: Revision) -> bytes:
        """The result of `server/discover`."""
        body = {
            "supportedVersions": stateless_versions(self.revisions),
            "capabilities": {"tools": {}},
            **_instructions(self._server),
            **_hint(revision, "server/discover"),
        }
        return self.complete(revision, _ENCODER.encode(body))

    def listed(self, revision: Revision) -> bytes:
        """The result of `tools/list`: one page, in the order of configuration."""
        known = self._listed.get(revision.version)
        if known is None:
            tools = [_listed(face, revision) for face in self._tools]
            body = _ENCODER.encode({"tools": tools, **_hint(revision, "tools/list")})
            known = self._listed[revision.version] = self.complete(revision, body)
        return known

    def called(self, revision: Revision, content: bytes, *, is_error: bool) -> bytes:
        """The result of `tools/call`; the content, an encoded object, is structured content and text at once."""
        text = _ENCODER.encode(content.decode())
        parts = [b'{"content":[{"type":"text","text":', text, b"}]"]
        if revision.structured_content:
            parts += [b',"structuredContent":', content]
        parts.append(b',"isError":true}' if is_error else b',"isError":false}')
        return self.complete(revision, b"".join(parts))

    def complete(self, revision: Revision, body: bytes) -> bytes:
        """An encoded object that is not empty, as a complete result: stateless revisions say so, and who answers."""
        if not revision.stateless:
            return body
        return b'{"resultType":"complete",' + body[1:-1] + b',"_meta":' + self.server_meta + b"}"


def _info(server: Identity) -> dict[str, str]:
    return {"name": server.name, "version": server.version}


def _instructions(server: Identity) -> dict[str, str]:
    return {} if server.instructions is None else {"instructions": server.instructions}


def _hint(revision: Revision, method: str) -> dict[str, Any]:
    hint = revision.cache.get(method)
    return {} if hint is None else {"ttlMs": hint.ttl_ms, "cacheScope": hint.scope}


def _listed(face: ToolFace, revision: Revision) -> dict[str, Any]:
    members = {
        "name": face.wire_name,
        "title": face.title,
        "description": face.description,
        "inputSchema": face.input_schema,
        "outputSchema": face.output_schema,
        "annotations": face.annotations,
    }
    return {name: value for name, value in members.items() if name in revision.tool_members}


def _by_name(tools: Sequence[ToolFace]) -> dict[str, ToolFace]:
    found: dict[str, ToolFace] = {}
    wrong: list[str] = []
    for face in tools:
        wrong += _unfit(face)
        for name in {face.name, face.wire_name, face.name.replace(".", "_")}:
            if name in found:
                wrong.append(f"two tools would be called {name}: {found[name].name} and {face.name}")
            found[name] = face
    if wrong:
        raise StartError(*sorted(wrong))
    return found


def _unfit(face: ToolFace) -> list[str]:
    wrong = [
        f"{name!r} is no name for a tool: a letter, then up to 39 letters, digits, '_' or '.'"
        for name in sorted({face.name, face.wire_name})
        if not NAME.fullmatch(name)
    ]
    if any(schema.get("type") != "object" for schema in (face.input_schema, face.output_schema)):
        wrong.append(f"{face.name}: the root of a schema must have type object")
    return wrong
