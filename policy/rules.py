"""The settings of egress as one frozen value: profile, allowlist and NAT64 prefixes, parsed with a line per fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Network, ip_network
from typing import Final, Literal, get_args

from policy.address import NAT64_LENGTHS, classify
from policy.allowlist import VARIABLE as ALLOW_VARIABLE
from policy.allowlist import Entry, parse_entries, quoted
from policy.errors import PolicyError
from policy.table import IPAddress, row_of

Profile = Literal["deny-all", "loopback", "private", "allowlist"]

PROFILES: Final[tuple[Profile, ...]] = get_args(Profile)
PROFILE_VARIABLE: Final = "PLINTH_FACTS_NET_PROFILE"
NAT64_VARIABLE: Final = "PLINTH_FACTS_NAT64_PREFIXES"


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be reached. `listed_names` and `listed_addresses` are the entries by what they are looked up by."""

    profile: Profile
    entries: tuple[Entry, ...] = ()
    nat64: tuple[IPv6Network, ...] = ()
    listed_names: Mapping[tuple[str, int], Entry] = field(init=False, repr=False, compare=False)
    listed_addresses: frozenset[tuple[IPAddress, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {(entry.host, entry.port): entry for entry in self.entries if entry.address is None}
        addresses = set()
        for entry in self.entries:
            # An IPv4-mapped entry is the IPv4 entry: the socket could not tell them apart.
            effective = None if entry.address is None else classify(entry.address).effective
            if effective is not None:
                addresses.add((effective, entry.port))
        object.__setattr__(self, "listed_names", names)
        object.__setattr__(self, "listed_addresses", frozenset(addresses))


def parse_rules(profile: str, allow_hosts: str = "", nat64_prefixes: str = "") -> Rules:
    """The rules that three settings make; `PolicyError` has one line for each thing that is wrong."""
    lines: list[str] = []
    chosen = next((each for each in PROFILES if each == profile), None)
    if chosen is None:
        lines.append(f"{PROFILE_VARIABLE}: {quoted(profile)} is none of {', '.join(PROFILES)}")
    entries = _entries(allow_hosts, lines)
    nat64 = _nat64(nat64_prefixes, lines)
    if chosen == "allowlist" and not allow_hosts.strip():
        lines.append(f"{ALLOW_VARIABLE}: profile allowlist needs at least one host:port")
    if chosen not in {None, "allowlist"} and allow_hosts.strip():
        lines.append(
            f"{ALLOW_VARIABLE}: profile {chosen} takes no allowlist; set {PROFILE_VARIABLE}=allowlist"
        )
    if lines or chosen is None:
        raise PolicyError(tuple(lines))
    return Rules(chosen, entries, nat64)


def _entries(text: str, lines: list[str]) -> tuple[Entry, ...]:
    if not text.strip():
        return ()
    try:
        return parse_entries(text)
    except PolicyError as error:
        lines.extend(error.lines)
        return ()


def _nat64(text: str, lines: list[str]) -> tuple[IPv6Network, ...]:
    """The prefixes, longest first, so that the first that holds an address is the one that decodes it."""
    prefixes = set()
    for part in text.split(",") if text.strip() else ():
        prefix = _prefix(part.strip())
        if prefix is None:
            lengths = ", ".join(f"/{length}" for length in NAT64_LENGTHS)
            why = (
                f"expected an IPv6 prefix of {lengths} with bits 64 to 71 zero, in space that may be reached"
            )
            lines.append(f"{NAT64_VARIABLE}: {quoted(part.strip())}: {why} (RFC 6052)")
        else:
            prefixes.add(prefix)
    return tuple(sorted(prefixes, key=lambda prefix: (-prefix.prefixlen, prefix)))


def _prefix(text: str) -> IPv6Network | None:
    try:
        prefix = ip_network(text)
    except ValueError:
        return None
    if not isinstance(prefix, IPv6Network) or prefix.prefixlen not in NAT64_LENGTHS:
        return None
    row = row_of(prefix.network_address)
    gap = int(prefix.network_address) >> 56 & 0xFF
    # A prefix that is wider than its row would be decoded at another length than the translator does.
    inside = prefix.subnet_of(IPv6Network(row.range))
    return prefix if inside and not row.never and not gap else None
