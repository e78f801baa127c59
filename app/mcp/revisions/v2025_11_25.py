"""MCP 2025-11-25: for a server of tools the same as its predecessor; the last one with a handshake."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2025_06_18

REVISION = replace(v2025_06_18.REVISION, version="2025-11-25")
