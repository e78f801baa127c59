"""Egress policy: the settings become a frozen `Policy` once, which answers every question with a `Decision`.

The order of the questions: `decide_target` before anything is looked up, `lookup` for where a name may be looked up,
`decide_answer` (or `decide_address` for one) before anything is dialled. It opens and reads nothing itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Network
from typing import Final, Literal, Protocol

from policy.address import address_text, classify, classify_text
from policy.advice import advise, advise_name
from policy.allowlist import Entry, quoted, unreachable_warning
from policy.decision import GRAVEST_FIRST, Check, Decision, Verdict, refused
from policy.judge import Question, judge_address, judge_name, refuse_lookup
from policy.names import is_literal, is_local_name
from policy.rules import PROFILE_VARIABLE, Profile, Rules, parse_rules
from policy.table import ISATAP, ROWS, IPAddress

Lookup = Literal["none", "local", "dns"]

FORBIDDEN_HEADERS: Final = (
    "metadata",
    "metadata-flavor",
    "x-google-metadata-request",
    "x-aws-ec2-metadata-token*",
    "x-aliyun-ecs-metadata-token*",
    "metadata-token*",
)
"""Request headers that unlock metadata services, lower case; a star stands for any ending."""

_ENTRIES_IN_SUMMARY: Final = 8
_REACH: Final = {
    "deny-all": "nothing can be measured, and no packet and no DNS query leaves",
    "loopback": "reaches 127.0.0.0/8 and ::1 as addresses, localhost and names of the hosts file; no DNS query leaves",
    "private": "reaches loopback, RFC 1918 and fc00::/7 addresses; names are looked up by DNS",
}


class HasHost(Protocol):
    """What a decision about a target needs of it: a `Target` and a `HostPort` both have it."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def address(self) -> IPAddress | None: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be reached. `warnings` are well-formed entries that can never be reached, one line each."""

    rules: Rules
    warnings: tuple[str, ...] = ()

    @classmethod
    def parse(cls, profile: str, allow_hosts: str = "", nat64_prefixes: str = "") -> Policy:
        """The policy of three settings; `PolicyError` has one line for each thing that is wrong."""
        rules = parse_rules(profile, allow_hosts, nat64_prefixes)
        warnings = (unreachable_warning(entry, rules.nat64) for entry in rules.entries)
        return cls(rules, tuple(warning for warning in warnings if warning is not None))

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self.rules.profile

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of the allowlist, each once, in the order of the setting."""
        return self.rules.entries

    @property
    def nat64_prefixes(self) -> tuple[IPv6Network, ...]:
        """The NAT64 prefixes of the setting, longest first."""
        return self.rules.nat64

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits over profile, entries, NAT64 prefixes and the table, whatever their order."""
        lines = [self.profile, *sorted(entry.text for entry in self.entries), *map(str, self.nat64_prefixes)]
        table = sorted("|".join(map(str, row)) for row in (*ROWS, ISATAP))
        return hashlib.sha256("\n".join(lines + table).encode()).hexdigest()[:12]

    @property
    def summary(self) -> str:
        """One sentence for whoever talks to the server: the profile, the digest, and what is reached."""
        return f"Egress policy {self.profile} (rules {self.digest}): {_REACH.get(self.profile) or self._listed()}."

    def _listed(self) -> str:
        shown = ", ".join(entry.text for entry in self.entries[:_ENTRIES_IN_SUMMARY])
        more = len(self.entries) - _ENTRIES_IN_SUMMARY
        return f"reaches exactly {shown}{f' and {more} more' if more > 0 else ''}"

    def decide_target(self, target: HasHost) -> Decision:
        """The decision before any lookup: of a literal the whole one, of a name whether it may be looked up."""
        if target.address is not None:
            # The host of a literal is the text of its address already.
            return self._decide(self._question(target.host, target.port, target.address, target.host))
        decision = judge_name(self.rules, target.host, target.port)
        if decision.allowed or decision.rule == "metadata_name":
            return decision
        return replace(decision, configure=advise_name(self.rules, target.host, target.port))

    def lookup(self, host: str) -> Lookup:
        """Where a name may be looked up: nowhere, here (loopback for localhost, else the hosts file), or by DNS."""
        if self.profile == "deny-all" or is_literal(host):
            return "none"
        return "local" if self.profile == "loopback" or is_local_name(host) else "dns"

    def refuse_lookup(self, host: str) -> Decision:
        """The decision about a name that `lookup` keeps here and that nothing here knows."""
        return replace(refuse_lookup(self.rules, host), configure=f"{PROFILE_VARIABLE}=private")

    def decide_address(
        self,
        host: str,
        port: int,
        address: IPAddress | str,
        *,
        own: bool = False,
        own_listener: bool = False,
    ) -> Decision:
        """The decision about one address of `host`, a literal's own included.

        `own`: an address of this host's interfaces; `own_listener`: this server listens on that address and port.
        """
        asked = self._question(host, port, address)
        return self._decide(asked._replace(own=own, own_listener=own_listener))

    def decide_answer(
        self,
        host: str,
        port: int,
        addresses: Sequence[IPAddress | str],
        *,
        own: Container[IPAddress] = (),
        own_listeners: Container[tuple[IPAddress, int]] = (),
    ) -> Verdict:
        """The decision about a whole answer; neither its order nor repeated addresses change it.

        `own` and `own_listeners` are asked for effective addresses: a listener on a wildcard address has to be
        in there with every address of this host.
        """
        asked = []
        for address in addresses:
            question = self._question(host, port, address)
            here = question.place.effective
            if here is not None:
                question = question._replace(own=here in own, own_listener=(here, port) in own_listeners)
            asked.append(question)
        checks = tuple(Check(each.shown, each.place, self._decide(each)) for each in asked)
        decision = self._of_all(host, asked, checks)
        effective = (check.place.effective for check in checks if decision.allowed)
        return Verdict(decision, checks, tuple(dict.fromkeys(each for each in effective if each is not None)))

    def _of_all(self, host: str, asked: Sequence[Question], checks: Sequence[Check]) -> Decision:
        if not checks:
            return refused("no_address", f"{quoted(host)} has no address")
        denied = [check for check in checks if not check.decision.allowed]
        if not denied:
            return min(checks, key=_gravity).decision
        decision = min(denied, key=_gravity).decision
        return decision if len(checks) == 1 else replace(decision, configure=advise(self.rules, asked))

    def _question(self, host: str, port: int, address: IPAddress | str, text: str | None = None) -> Question:
        if isinstance(address, str):
            place = classify_text(address, self.rules.nat64)
            text = address if place.effective is not None else quoted(address)
        else:
            place = classify(address, self.rules.nat64)
            text = text or address_text(address)
        return Question(host.removesuffix(".").lower(), port, place, _shown(text, address, place.effective))

    def _decide(self, asked: Question) -> Decision:
        decision = judge_address(self.rules, asked)
        return decision if decision.allowed else replace(decision, configure=advise(self.rules, (asked,)))


def decide_header(name: str) -> Decision | None:
    """The refusal of a request header that unlocks metadata services; None for every other one."""
    plain = name.strip().lower()
    for forbidden in FORBIDDEN_HEADERS:
        if plain == forbidden or (forbidden.endswith("*") and plain.startswith(forbidden[:-1])):
            reason = f"the header {forbidden} unlocks metadata services and is never sent"
            return refused("forbidden_header", reason)
    return None


def _shown(text: str, given: IPAddress | str, effective: IPAddress | None) -> str:
    """The spelling that was given, with the address that it means where the two differ."""
    if effective is None or effective is given:
        return text
    meant = address_text(effective)
    return text if text == meant else f"{text} ({meant})"


def _gravity(check: Check) -> tuple[int, str]:
    rule = check.decision.rule
    return GRAVEST_FIRST.index(rule) if rule in GRAVEST_FIRST else len(GRAVEST_FIRST), check.address
