"""The events that logs consist of: what happened, frozen; where and when it was written stands in the line."""

from __future__ import annotations

from typing import Any

import msgspec


class Measured(msgspec.Struct, frozen=True, tag_field="type", tag="measured"):
    """A measurement was taken, successful or not.

    `arguments` are redacted, `observed_at` is UTC (RFC 3339, microseconds), `error` is None or
    `{code, phase, message, …}`; `data` holds the facts of the kind, as far as they were seen.
    """

    tool: str
    arguments: dict[str, Any]
    observed_at: str
    data: dict[str, Any] | None
    ok: bool
    error: dict[str, Any] | None


Event = Measured
"""Every type of event; a new one is added here with `|`, and to the golden lines."""
