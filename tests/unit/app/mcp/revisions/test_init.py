"""The finding of revisions."""

from __future__ import annotations

from app.mcp.revisions import load


def test_every_module_of_the_folder_is_a_revision_oldest_first() -> None:
    assert list(load()) == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
