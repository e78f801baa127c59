"""MCP 2025-06-18: adds titles, output schemas and structured content; drops batches."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2025_03_26

REVISION = replace(
    v2025_03_26.REVISION,
    version="2025-06-18",
    tool_members=(*v2025_03_26.REVISION.tool_members, "title", "outputSchema"),
    batches=False,
    structured_content=True,
)
