"""Which revision a request belongs to: it says so itself in `_meta`, or the handshake before it did.

Both are served side by side in one conversation, because clients probe with a stateless request and fall back to
the handshake on the same pipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.errors import RequestError
from app.mcp.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, Request
from app.mcp.revision import Revision

PREFIX: Final = "io.modelcontextprotocol/"
VERSION: Final = PREFIX + "protocolVersion"
CAPABILITIES: Final = PREFIX + "clientCapabilities"
LOG_LEVEL: Final = PREFIX + "logLevel"
LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
# These two open a conversation or keep it alive, so they are answered whatever came before.
_ALWAYS_ANSWERED: Final = frozenset({"initialize", "ping"})


def meta_of(request: Request) -> Mapping[str, Any]:
    """The `_meta` of a request; anything but an object counts as none."""
    meta = request.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def is_stateless(request: Request) -> bool:
    """Whether the request has the shape of the stateless revisions."""
    meta = meta_of(request)
    return VERSION in meta or CAPABILITIES in meta


def revision_of(request: Request, negotiated: Revision | None, revisions: Mapping[str, Revision]) -> Revision:
    """The revision that serves this request; RequestError when none does or the method is not in it."""
    meta = meta_of(request)
    if VERSION in meta or CAPABILITIES in meta:
        revision = _named(meta, revisions)
    elif negotiated is not None:
        revision = negotiated
    elif request.method in _ALWAYS_ANSWERED:
        revision = negotiate(None, revisions)
    else:
        raise RequestError(INVALID_PARAMS, f"params._meta must carry {VERSION} and {CAPABILITIES}")
    if request.method not in revision.methods:
        raise RequestError(METHOD_NOT_FOUND, "Method not found")
    return revision


def negotiate(wanted: Any, revisions: Mapping[str, Revision]) -> Revision:
    """The revision for `initialize`: the one wanted, or else the newest that has a handshake."""
    handshake = {version: one for version, one in revisions.items() if not one.stateless}
    if isinstance(wanted, str) and wanted in handshake:
        return handshake[wanted]
    return handshake[max(handshake)]


def stateless_versions(revisions: Mapping[str, Revision]) -> list[str]:
    """What `server/discover` and the refusal of a version list; the handshake is not announced there."""
    return [version for version, one in revisions.items() if one.stateless]


def _named(meta: Mapping[str, Any], revisions: Mapping[str, Revision]) -> Revision:
    version = meta.get(VERSION)
    if not isinstance(version, str):
        raise RequestError(INVALID_PARAMS, f"params._meta must carry {VERSION} as a string")
    revision = revisions.get(version)
    if revision is None or not revision.stateless:
        data = {"supported": stateless_versions(revisions), "requested": version}
        raise RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta.get(CAPABILITIES), dict):
        raise RequestError(INVALID_PARAMS, f"params._meta must carry {CAPABILITIES} as an object")
    if meta.get(LOG_LEVEL, "info") not in LOG_LEVELS:
        raise RequestError(INVALID_PARAMS, f"{LOG_LEVEL} must be one of the eight syslog levels")
    return revision
