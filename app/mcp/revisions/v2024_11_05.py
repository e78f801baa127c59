"""MCP 2024-11-05: the first revision; tools have a name, a description and an input schema, and nothing else."""

from __future__ import annotations

from app.mcp.revision import Revision

REVISION = Revision(
    version="2024-11-05",
    methods=frozenset({"initialize", "ping", "tools/list", "tools/call"}),
    tool_members=("name", "description", "inputSchema"),
)
