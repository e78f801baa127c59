"""The three settings of egress: what they make, and a line for everything that is wrong."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Network

import pytest

from policy.allowlist import parse_entries
from policy.errors import PolicyError
from policy.rules import PROFILES, Rules, parse_rules


def lines_of(profile: str, allow_hosts: str = "", nat64: str = "") -> tuple[str, ...]:
    with pytest.raises(PolicyError) as refusal:
        parse_rules(profile, allow_hosts, nat64)
    assert str(refusal.value) == "\n".join(refusal.value.lines)
    return refusal.value.lines


@pytest.mark.parametrize("profile", ["deny-all", "loopback", "private"])
def test_a_profile_stands_by_itself(profile: str) -> None:
    assert parse_rules(profile) == Rules(next(each for each in PROFILES if each == profile))


def test_an_allowlist_is_looked_up_by_name_and_by_effective_address() -> None:
    rules = parse_rules("allowlist", "[::ffff:10.0.0.1]:80, a.test:443")

    assert rules == Rules("allowlist", parse_entries("[::ffff:10.0.0.1]:80,a.test:443"))
    assert rules.listed_addresses == {(IPv4Address("10.0.0.1"), 80)}
    assert list(rules.listed_names) == [("a.test", 443)]


@pytest.mark.parametrize("profile", ["", "Loopback", "public", "loopback ", "x" * 1000])
def test_an_unknown_profile_is_named_with_those_that_exist(profile: str) -> None:
    (line,) = lines_of(profile)

    assert line.startswith("PLINTH_FACTS_NET_PROFILE: '")
    assert line.endswith(" is none of deny-all, loopback, private, allowlist")


def test_an_allowlist_needs_entries() -> None:
    assert lines_of("allowlist", " ") == (
        "PLINTH_FACTS_ALLOW_HOSTS: profile allowlist needs at least one host:port",
    )


@pytest.mark.parametrize("profile", ["deny-all", "loopback", "private"])
def test_other_profiles_take_no_entries(profile: str) -> None:
    message = f"profile {profile} takes no allowlist; set PLINTH_FACTS_NET_PROFILE=allowlist"

    assert lines_of(profile, "a.test:80") == (f"PLINTH_FACTS_ALLOW_HOSTS: {message}",)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    lines = lines_of("open", "a.test,b.test:80,:1", "10.0.0.0/8")

    assert [line.partition(": ")[0] for line in lines] == [
        "PLINTH_FACTS_NET_PROFILE",
        "PLINTH_FACTS_ALLOW_HOSTS",
        "PLINTH_FACTS_ALLOW_HOSTS",
        "PLINTH_FACTS_NAT64_PREFIXES",
    ]


def test_nat64_prefixes_are_kept_longest_first() -> None:
    rules = parse_rules("private", "", "2001:db8::/32, 64:ff9b:1:fffe::/96,64:ff9b::/96,64:ff9b::/96")

    assert rules.nat64 == tuple(map(IPv6Network, ["64:ff9b::/96", "64:ff9b:1:fffe::/96", "2001:db8::/32"]))


BAD_PREFIXES = {
    "IPv4": "10.0.0.0/8",
    "no prefix": "nat64",
    "nothing between commas": "64:ff9b::/96,",
    "a length that RFC 6052 does not have": "2001:db8::/95",
    "host bits": "64:ff9b::1/96",
    "bits 64 to 71 in use": "2001:db8:1:2:ff00::/96",
    "link-local": "fe80::/96",
    "metadata": "fd00:ec2::/32",
    "wider than the well-known prefix": "64:ff9b::/64",
    "a single address": "64:ff9b::/128",
}


@pytest.mark.parametrize("text", BAD_PREFIXES.values(), ids=BAD_PREFIXES)
def test_a_prefix_that_is_no_nat64_prefix_is_a_line(text: str) -> None:
    (line,) = lines_of("private", "", text)

    assert line.startswith("PLINTH_FACTS_NAT64_PREFIXES: '")
    assert line.endswith("(RFC 6052)")
