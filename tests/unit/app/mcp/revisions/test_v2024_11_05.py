"""MCP 2024-11-05."""

from __future__ import annotations

from app.mcp.revision import Revision
from app.mcp.revisions.v2024_11_05 import REVISION


def test_the_first_revision_knows_the_least() -> None:
    expected = Revision(
        version="2024-11-05",
        methods=frozenset({"initialize", "ping", "tools/list", "tools/call"}),
        tool_members=("name", "description", "inputSchema"),
    )

    assert expected == REVISION
