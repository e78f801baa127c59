"""The events that logs consist of: what happened, frozen; where and when it was written stands in the line."""

from __future__ import annotations

from typing import Any, Literal

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


class Asserted(msgspec.Struct, frozen=True, tag_field="type", tag="asserted", omit_defaults=True):
    """Somebody stated something; the id of the line is the claim's.

    `evidence` is embedded, each item with its `type`; `about`, `source` and `idempotency_key` are left out of the
    line where nothing was given. Texts are redacted.
    """

    statement: str
    evidence: list[dict[str, Any]]
    observed_by: str
    tags: list[str]
    about: dict[str, Any] | None = None
    source: str | None = None
    idempotency_key: str | None = None


class Retracted(msgspec.Struct, frozen=True, tag_field="type", tag="retracted"):
    """Somebody took a claim back; the claim's own line stays as it is."""

    claim_id: str
    reason: str
    retracted_by: str | None


SignedLog = Literal["observations", "claims", "documents"]
"""The logs whose lines are proven by checkpoints."""


class Checkpointed(msgspec.Struct, frozen=True, tag_field="type", tag="checkpointed"):
    """The Merkle root over the first `size` lines of `log`, which end before byte `position`, was signed.

    `note` is the whole signed note (C2SP tlog-checkpoint), which proves the rest of the line.
    """

    log: SignedLog
    size: int
    position: int
    root: str
    note: str


Event = Measured | Asserted | Retracted | Checkpointed
"""Every type of event; a new one is added here with `|`, and to the golden lines."""
