"""MCP 2025-03-26: adds annotations of tools, messages of progress, and batches, which later revisions dropped."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2024_11_05

REVISION = replace(
    v2024_11_05.REVISION,
    version="2025-03-26",
    tool_members=(*v2024_11_05.REVISION.tool_members, "annotations"),
    batches=True,
    progress_messages=True,
)
