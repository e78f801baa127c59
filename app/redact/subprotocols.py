"""Tokens among the subprotocols of a WebSocket: browsers can send no other header, so that they are put there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.redact.known import SHORTEST

_TELLING = re.compile(
    r"bearer|auth|token|secret|password|passwd|jwt|api[-_]?key|credential|session", re.IGNORECASE
)


def secrets_in_subprotocols(subprotocols: Sequence[str]) -> frozenset[str]:
    """What is a token in these: what follows the last dot behind a telling word, or the one after a telling one.

    `base64url.bearer.authorization.k8s.io.<token>` is the form of Kubernetes, `access_token`, `<token>` a common other.
    """
    found = set()
    for index, text in enumerate(subprotocols):
        head, _, tail = text.rpartition(".")
        if _TELLING.search(head):
            found.add(tail)
        elif index and _TELLING.search(subprotocols[index - 1]) and not _TELLING.search(text):
            found.add(text)
    return frozenset(secret for secret in found if len(secret) >= SHORTEST)
