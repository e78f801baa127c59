"""What policy answers: a `Decision` is a value with its reason, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from policy.address import Place
from policy.table import IPAddress

Rule = Literal[
    # refused, the gravest first
    "unclassifiable",
    "never",
    "own_listener",
    "class_refused",
    "metadata_name",
    "deny_all",
    "no_lookup",
    "not_listed",
    "outside_profile",
    "own_address",
    "not_public",
    "mark_mismatch",
    "no_address",
    "forbidden_header",
    # allowed
    "profile_loopback",
    "profile_private",
    "listed_address",
    "listed_name",
]

GRAVEST_FIRST: Final[tuple[Rule, ...]] = (
    "unclassifiable",
    "never",
    "own_listener",
    "class_refused",
    "deny_all",
    "not_listed",
    "outside_profile",
    "own_address",
    "mark_mismatch",
    "not_public",
)
"""Which refusal speaks for an answer with several: an order of our own, so that the resolver's does not show."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether it may be reached, by which rule, in words, and what an operator would have to configure.

    `address_class` is None while only a name was judged. `configure` is the setting that would admit it, None
    when it is allowed already or when no setting would.
    """

    allowed: bool
    rule: Rule
    reason: str
    address_class: str | None = None
    configure: str | None = None


def allowed(rule: Rule, reason: str, address_class: str | None = None) -> Decision:
    """The decision that admits."""
    return Decision(allowed=True, rule=rule, reason=reason, address_class=address_class)


def refused(rule: Rule, reason: str, address_class: str | None = None) -> Decision:
    """The decision that refuses."""
    return Decision(allowed=False, rule=rule, reason=reason, address_class=address_class)


class Check(NamedTuple):
    """One address of an answer as it was given, its place, and the decision about it alone."""

    address: str
    place: Place
    decision: Decision


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about a whole answer: one refused address refuses it.

    `checks` stand in the order of the answer; `addresses` are what may be dialled, in that order and each once
    (an IPv4-mapped one as the IPv4 that it is): empty when refused.
    """

    decision: Decision
    checks: tuple[Check, ...]
    addresses: tuple[IPAddress, ...]
