"""A decision in full: each address, its class and the rule, as a value for machines and as lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from policy.address import address_text
from policy.decision import Check, Decision
from policy.egress import Policy
from policy.errors import TargetError
from policy.table import IPAddress
from policy.target import Target, parse_url

SCHEMES: Final = ("http", "https", "ws", "wss")
EXIT_ALLOWED: Final = 0
EXIT_REFUSED: Final = 1
EXIT_BAD_INPUT: Final = 2


def explain(policy: Policy, text: str, addresses: Sequence[IPAddress | str] | None = None) -> dict[str, Any]:
    """Why a URL may be measured or not, ready for JSON; `addresses` are what a name resolved to.

    A name without addresses is judged as a name only (`lookup` says where it would be looked up). The URL is
    shown without its query, and a text that is no target is not shown at all: either may hold secrets.
    """
    frame: dict[str, Any] = {"profile": policy.profile, "rules_digest": policy.digest}
    try:
        target = parse_url(text, SCHEMES)
    except TargetError as error:
        return {
            **frame,
            "allowed": False,
            "error": {"reason_code": error.reason_code, "message": error.message},
        }
    decision, checks = _judged(policy, target, addresses)
    undecided = decision.allowed and not checks  # of a name only its addresses decide
    return {
        **frame,
        "url": target.url.partition("?")[0],
        "host": target.host,
        "port": target.port,
        "literal": target.address is not None,
        "lookup": policy.lookup(target.host),
        **_decision(decision),
        "allowed": None if undecided else decision.allowed,
        "addresses": [_check(check) for check in checks],
    }


def render(explained: dict[str, Any]) -> str:
    """The same in lines for a terminal."""
    error = explained.get("error")
    if error is not None:
        return f"bad input ({error['reason_code']}): {error['message']}"
    lines = [f"{_word(explained)} {explained['url']}", f"  profile: {explained['profile']}"]
    lines += [f"  rule: {explained['rule']}", f"  reason: {explained['reason']}"]
    if explained["configure"] is not None:
        lines.append(f"  to allow it: {explained['configure']}")
    if not explained["literal"]:
        lines.append(f"  lookup: {explained['lookup']}")
    for each in explained["addresses"]:
        lines.append(
            f"  address {each['address']}: {_word(each)}, class {each['label']}, rule {each['rule']}"
        )
    return "\n".join(lines)


def exit_code(explained: dict[str, Any]) -> int:
    """0 allowed, 1 refused, 2 bad input, a name whose addresses are not known among it."""
    if "error" in explained or explained["allowed"] is None:
        return EXIT_BAD_INPUT
    return EXIT_ALLOWED if explained["allowed"] else EXIT_REFUSED


def _judged(
    policy: Policy, target: Target, addresses: Sequence[IPAddress | str] | None
) -> tuple[Decision, tuple[Check, ...]]:
    by_target = policy.decide_target(target)
    if target.address is not None:
        return by_target, policy.decide_answer(target.host, target.port, [target.address]).checks
    if addresses is None or not by_target.allowed:
        return by_target, ()
    if not addresses and policy.lookup(target.host) == "local":
        return policy.refuse_lookup(target.host), ()
    verdict = policy.decide_answer(target.host, target.port, addresses)
    return verdict.decision, verdict.checks


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "allowed": decision.allowed,
        "rule": decision.rule,
        "reason": decision.reason,
        "address_class": decision.address_class,
        "configure": decision.configure,
    }


def _check(check: Check) -> dict[str, Any]:
    effective = check.place.effective
    return {
        "address": check.address,
        "effective": None if effective is None else address_text(effective),
        "label": check.place.label,
        **_decision(check.decision),
    }


def _word(explained: dict[str, Any]) -> str:
    if explained["allowed"] is None:
        return "undecided"
    return "allowed" if explained["allowed"] else "refused"
