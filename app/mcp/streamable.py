"""What Streamable HTTP adds to a message: headers that repeat its body, and a status for what became of it.

The body says which era a message belongs to; its headers are judged by that. Names of headers are in small letters,
values are as they were sent, each of a repeated header by itself. Source: MCP 2026-07-28,
`basic/transports/streamable-http`; the same page of the older revisions for those.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from app.errors import RequestError
from app.mcp.era import VERSION, is_stateless, meta_of
from app.mcp.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Message,
    Notification,
    Request,
)
from app.mcp.revision import Revision

Headers = Mapping[str, Sequence[str]]

UNSAID: Final = "2025-03-26"
"""The revision of a message that names none: the last one whose clients sent no header."""

_NAMED_BY: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The member of `params` that the header `Mcp-Name` repeats, by method."""
_ENCODED: Final = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")
_STATUS: Final[Mapping[int, int]] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_LEGACY_STATUS: Final[Mapping[int, int]] = {PARSE_ERROR: 400, INVALID_REQUEST: 400}


class Route(NamedTuple):
    """The revision of the older era that serves a message, if one does, and whose rules hold for its connection."""

    negotiated: str | None
    modern: bool


def status(code: int | None, route: Route) -> int:
    """The HTTP status of an answer with this JSON-RPC error code; None for a result."""
    return 200 if code is None else (_STATUS if route.modern else _LEGACY_STATUS).get(code, 200)


def route(
    message: Message, headers: Headers, session: str | None, revisions: Mapping[str, Revision]
) -> Route:
    """How a message is served; `session` is the revision that its session has settled on, if it is in one.

    RequestError where the headers of a message do not say what its body says, and for a revision that is not served.
    """
    if isinstance(message, Request) and is_stateless(message):
        _check(message, headers)
        return Route(None, modern=True)
    if isinstance(message, Notification) and "mcp-method" in headers:
        _same(headers, "Mcp-Method", message.method)
    if isinstance(message, Request) and message.method == "initialize":
        return Route(None, modern=False)  # it names one itself, and its header is not judged
    values = [value.strip(" \t") for value in headers.get("mcp-protocol-version", ())]
    known = revisions.get(values[0]) if len(values) == 1 else None
    if values and known is None:
        supported = [version for version, one in revisions.items() if not one.stateless]
        raise RequestError(INVALID_REQUEST, "Unsupported MCP-Protocol-Version", {"supported": supported})
    if known is not None and known.stateless:
        return Route(None, modern=True)  # its body forgot what the header says, and is told so
    return Route(session or (known.version if known else UNSAID), modern=False)


def _check(request: Request, headers: Headers) -> None:
    version = meta_of(request).get(VERSION)
    if isinstance(version, str):  # what else it may be is told by whoever reads the body
        _same(headers, "MCP-Protocol-Version", version)
    _same(headers, "Mcp-Method", request.method)
    name = request.params.get(_NAMED_BY.get(request.method, ""))
    if isinstance(name, str):
        _same(headers, "Mcp-Name", name)


def _same(headers: Headers, name: str, wanted: str) -> None:
    values = headers.get(name.lower(), ())
    if len(values) != 1:
        raise RequestError(HEADER_MISMATCH, f"{name}: expected once, and it is there {len(values)} times")
    if _decoded(name, values[0].strip(" \t")) != wanted:
        raise RequestError(HEADER_MISMATCH, f"{name}: it is not what the body says")


def _decoded(name: str, value: str) -> str:
    """A value that a header cannot carry comes as base64 of its UTF-8."""
    if not value.startswith("=?base64?") or name != "Mcp-Name":
        return value
    matched = _ENCODED.fullmatch(value)
    try:
        return b64decode(matched[1] if matched else "!", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise RequestError(HEADER_MISMATCH, f"{name}: it is no base64 of UTF-8") from None


def accepts(values: Sequence[str], kind: str) -> bool:
    """Whether an `Accept` header admits a media type such as `text/event-stream` (RFC 9110, section 12.5.1)."""
    ranges = [_range(text) for value in values for text in value.split(",") if text.strip()]
    wanted = kind.partition("/")[0]
    for name in (kind, f"{wanted}/*", "*/*"):
        for found, quality in ranges:
            if found == name:
                return quality > 0
    return not ranges


def _range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = next((part[2:] for part in parameters if part.startswith("q=")), "1")
    return name, float(quality) if re.fullmatch(r"[01](\.[0-9]{0,3})?", quality) else 0.0


def is_json(values: Sequence[str]) -> bool:
    """Whether a `Content-Type` header says JSON in UTF-8; a form or a plain text could be sent by any web page."""
    if len(values) != 1:
        return False
    name, *parameters = (part.strip().lower() for part in values[0].split(";"))
    charsets = [part.partition("=")[2].strip('"') for part in parameters if part.startswith("charset")]
    return name == "application/json" and all(each in {"utf-8", "utf8"} for each in charsets)


def event(line: bytes) -> bytes:
    """A line as an event of a stream."""
    return b"event: message\ndata: " + line + b"\n\n"
