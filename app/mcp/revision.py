"""What one revision of the protocol says, as a value; a newer one is its predecessor with differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class CacheHint(msgspec.Struct, frozen=True):
    """How long, and for whom, a result may be kept."""

    ttl_ms: int
    scope: Literal["public", "private"]


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One revision; `stateless` ones are named by each request, the others are negotiated by `initialize`."""

    version: str
    methods: frozenset[str]
    tool_members: tuple[str, ...]
    stateless: bool = False
    batches: bool = False
    structured_content: bool = False
    progress_messages: bool = False
    cache: Mapping[str, CacheHint] = {}
