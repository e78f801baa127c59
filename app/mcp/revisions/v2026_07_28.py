"""MCP 2026-07-28: no handshake and no state; every request says its revision, every result its type."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revision import CacheHint
from app.mcp.revisions import v2025_11_25

REVISION = replace(
    v2025_11_25.REVISION,
    version="2026-07-28",
    methods=frozenset({"server/discover", "tools/list", "tools/call", "subscriptions/listen"}),
    stateless=True,
    cache={
        "server/discover": CacheHint(
            3_600_000, "private"
        ),  # the instructions tell the operator's configuration
        "tools/list": CacheHint(300_000, "public"),
    },
)
