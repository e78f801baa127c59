"""The value that describes a revision."""

from __future__ import annotations

import pytest

from app.mcp.revision import CacheHint, Revision


def test_a_revision_promises_nothing_unless_it_says_so() -> None:
    revision = Revision(version="v", methods=frozenset(), tool_members=())

    assert (revision.stateless, revision.batches, revision.structured_content) == (False, False, False)
    assert (revision.progress_messages, revision.cache) == (False, {})


def test_a_revision_cannot_be_changed() -> None:
    hint = CacheHint(1, "private")

    with pytest.raises(AttributeError):
        hint.ttl_ms = 2  # type: ignore[misc]  # that it is refused is the point
