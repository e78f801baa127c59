"""Secrets out, before anything is stored, returned or logged: pure, deterministic, linear in the length of the text.

`Redactor` is all that others need, and `carry_secrets` where there is none. Inside: `views` (readings of a text) and
`spans` (places in it) are the base, each of `pem`, `urls`, `headers`, `pairs` (with `containers`), `markup`, `shapes`
and `known` finds one sort of secret, `scan` asks them all.
"""

from __future__ import annotations

from app.redact.arguments import carry_secrets
from app.redact.known import Known
from app.redact.redactor import Redactor
from app.redact.spans import Kind
from app.redact.subprotocols import secrets_in_subprotocols

__all__ = ["Kind", "Known", "Redactor", "carry_secrets", "secrets_in_subprotocols"]
