"""MCP 2025-06-18."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2025_03_26
from app.mcp.revisions.v2025_06_18 import REVISION


def test_it_adds_structured_content_and_drops_batches() -> None:
    expected = replace(
        v2025_03_26.REVISION,
        version="2025-06-18",
        tool_members=("name", "description", "inputSchema", "annotations", "title", "outputSchema"),
        batches=False,
        structured_content=True,
    )

    assert expected == REVISION
