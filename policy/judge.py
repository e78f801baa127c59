"""The rules themselves: one address, or one name, against the settings; pure, and without advice.

The rules of this file:
- What is never reached is refused before the profile is asked, so that no profile has to remember it.
- An entry admits a class only where the table has the column I, marked or not: a mark narrows, it never widens that.
- An address of the host's own interfaces counts as loopback for an entry by name, whatever its class.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from policy.address import Place
from policy.decision import Decision, Rule, allowed, refused
from policy.names import is_literal, is_local_name, is_metadata_name
from policy.rules import Rules
from policy.target import host_port_text

_WHERE: Final = {"private": "may be looked up", "loopback": "is looked for in the hosts file only"}


class Question(NamedTuple):
    """One address of a target: host and port as parsed, the place, how the address was spelt, and what it is to us."""

    host: str
    port: int
    place: Place
    shown: str
    own: bool = False
    own_listener: bool = False


def judge_address(rules: Rules, asked: Question) -> Decision:
    """The decision about one address; `configure` is left to `policy.advice`."""
    place = asked.place
    if place.name == "unclassifiable":
        return _deny(
            "unclassifiable", asked, "it cannot be read as an address, so the whole answer is refused"
        )
    if place.never:
        return _deny("never", asked, "refused in every profile, allowlist included")
    if asked.own_listener:
        return _deny("own_listener", asked, "it is a listener of this server itself")
    if rules.profile == "allowlist":
        return _listed_literal(rules, asked) if is_literal(asked.host) else _listed_name(rules, asked)
    if rules.profile == "deny-all":
        return _deny("deny_all", asked, "profile deny-all reaches nothing")
    if rules.profile == "loopback" and "L" in place.columns:
        return _admit("profile_loopback", asked)
    if rules.profile == "private" and "P" in place.columns:
        return _admit("profile_private", asked)
    return _deny("outside_profile", asked, f"profile {rules.profile} does not reach it")


def judge_name(rules: Rules, host: str, port: int) -> Decision:
    """The decision about a name before it is looked up; an allowed one still has every address judged."""
    if is_metadata_name(host):
        return refused("metadata_name", f"{host} is a name of a cloud metadata service", "metadata")
    if rules.profile == "allowlist":
        return _name_by_entry(rules, host, port)
    if rules.profile == "deny-all":
        return _deny_all(host)
    where = "is answered locally" if is_local_name(host) else _WHERE[rules.profile]
    rule: Rule = "profile_private" if rules.profile == "private" else "profile_loopback"
    return allowed(rule, f"{host} {where}; profile {rules.profile} judges its addresses")


def refuse_lookup(rules: Rules, host: str) -> Decision:
    """The decision about a name that may not be looked up and that the hosts file does not know."""
    reason = (
        f"{host} is not looked up: under profile {rules.profile} no DNS query leaves, and neither an address, "
        "localhost nor the hosts file answers it; profile private looks up any name, allowlist a listed one"
    )
    return refused("no_lookup", reason)


def _deny_all(host: str) -> Decision:
    if is_local_name(host):
        return refused("deny_all", f"{host}: profile deny-all reaches nothing")
    return refuse_lookup(Rules("deny-all"), host)


def _name_by_entry(rules: Rules, host: str, port: int) -> Decision:
    if (host, port) in rules.listed_names:
        return allowed("listed_name", f"{host_port_text(host, port)} is listed; its addresses are judged")
    reason = (
        f"{host_port_text(host, port)} is not listed, so it is not looked up; "
        "an entry by name reaches public addresses, others with the mark of their class"
    )
    return refused("not_listed", reason)


def _listed_literal(rules: Rules, asked: Question) -> Decision:
    if (asked.place.effective, asked.port) not in rules.listed_addresses:
        return _deny("not_listed", asked, f"{host_port_text(asked.host, asked.port)} is not listed")
    if "I" not in asked.place.columns:
        return _deny("class_refused", asked, "no allowlist entry admits this class")
    return _admit("listed_address", asked)


def _listed_name(rules: Rules, asked: Question) -> Decision:
    entry = rules.listed_names.get((asked.host, asked.port))
    key = host_port_text(asked.host, asked.port)
    if entry is None:
        return _deny("not_listed", asked, f"{key} is not listed")
    if "I" not in asked.place.columns:
        return _deny("class_refused", asked, "no allowlist entry admits this class")
    if entry.mark is not None:
        classes = {"loopback"} if asked.own else set(asked.place.marked_as)
        if classes == {entry.mark}:
            return _admit("listed_name", asked)
        return _deny(
            "mark_mismatch", asked, f"the entry {entry.text} reaches addresses of class {entry.mark} only"
        )
    if asked.own:
        return _deny(
            "own_address", asked, f"it is this host's own, and the entry {entry.text} has no @loopback"
        )
    if "N" not in asked.place.columns:
        return _deny(
            "not_public", asked, f"the entry {entry.text} has no mark, so it reaches public addresses only"
        )
    return _admit("listed_name", asked)


def _admit(rule: Rule, asked: Question) -> Decision:
    return allowed(rule, f"{asked.shown} is {asked.place.label}", asked.place.name)


def _deny(rule: Rule, asked: Question, why: str) -> Decision:
    place = asked.place
    described = f"{place.label}, {place.title}" if place.title else place.label
    return refused(rule, f"{asked.shown} is {described}: {why}", place.name)
