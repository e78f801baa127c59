"""MCP 2026-07-28."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revision import CacheHint
from app.mcp.revisions import v2025_11_25
from app.mcp.revisions.v2026_07_28 import REVISION


def test_it_has_no_handshake_and_says_how_long_lists_live() -> None:
    expected = replace(
        v2025_11_25.REVISION,
        version="2026-07-28",
        methods=frozenset({"server/discover", "tools/list", "tools/call", "subscriptions/listen"}),
        stateless=True,
        cache={
            "server/discover": CacheHint(3_600_000, "private"),
            "tools/list": CacheHint(300_000, "public"),
        },
    )

    assert expected == REVISION
