"""MCP 2025-11-25."""

from __future__ import annotations

from msgspec.structs import replace

from app.mcp.revisions import v2025_06_18
from app.mcp.revisions.v2025_11_25 import REVISION


def test_it_differs_from_its_predecessor_in_name_alone() -> None:
    assert replace(v2025_06_18.REVISION, version="2025-11-25") == REVISION
