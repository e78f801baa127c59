"""What a refusal of the policy tells the caller: the target, each address with its class, and what to configure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.errors import PolicyRefused
from policy import Check, Decision, HostPort, Target


def refusal(
    target: Target,
    hop: int,
    decision: Decision,
    checks: Sequence[Check] = (),
    place: HostPort | Target | None = None,
) -> PolicyRefused:
    """The error for a refused target; `checks` are the addresses that were judged, none for a name alone.

    `host` and `port` are those of the place that would have been connected to: the target's, unless given.

    An address is given as it was answered and, where that differs, as it would have been dialled:
    `::ffff:7f00:1 (127.0.0.1)`.
    """
    decisive = next((check.address for check in checks if check.decision.reason == decision.reason), None)
    return PolicyRefused(
        decision.reason,
        {
            "hop": hop,
            "url": target.url,
            "host": (place or target).host,
            "port": (place or target).port,
            "address": decisive,
            "class": decision.address_class,
            "rule": decision.rule,
            "reason": decision.reason,
            "configure": decision.configure,
            "addresses": [_address(check) for check in checks],
        },
    )


def checks_of(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The judged addresses as facts of a measurement."""
    return [
        {
            "address": check.address,
            "class": check.place.name,
            "rule": check.decision.rule,
            "allowed": check.decision.allowed,
        }
        for check in checks
    ]


def _address(check: Check) -> dict[str, Any]:
    return {"ip": check.address, "class": check.place.name, "allowed": check.decision.allowed}
