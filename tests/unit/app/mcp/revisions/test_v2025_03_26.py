"""MCP 2025-03-26."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2024_11_05
from app.mcp.revisions.v2025_03_26 import REVISION


def test_it_adds_annotations_batches_and_messages_of_progress() -> None:
    expected = replace(
        v2024_11_05.REVISION,
        version="2025-03-26",
        tool_members=("name", "description", "inputSchema", "annotations"),
        batches=True,
        progress_messages=True,
    )

    assert expected == REVISION
