"""The policy as the rest of the product asks it: before a lookup, before a dial, and about headers."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest

from policy.address import classify_text
from policy.allowlist import parse_entries
from policy.decision import Decision
from policy.egress import Policy, decide_header
from policy.errors import PolicyError
from policy.table import MARKS
from policy.target import parse_url

MATRIX: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "address_matrix.json").read_text(encoding="utf-8")
)
ROWS = pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row['address']} {row['name']}")
PUBLIC, PRIVATE, LOOPBACK = "93.184.216.34", "10.1.2.3", "127.0.0.1"


def listed(entry: str) -> Policy:
    return Policy.parse("allowlist", entry)


def url(host: str, port: int = 80) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


@ROWS
def test_the_profile_columns_decide_about_literals(row: dict[str, Any]) -> None:
    target = parse_url(url(row["address"]))

    verdicts = {
        profile: Policy.parse(profile).decide_target(target)
        for profile in ("deny-all", "loopback", "private")
    }

    assert {profile: decision.allowed for profile, decision in verdicts.items()} == {
        "deny-all": False,
        "loopback": "L" in row["columns"],
        "private": "P" in row["columns"],
    }
    assert {decision.address_class for decision in verdicts.values()} == {row["name"]}


@ROWS
def test_a_name_in_the_allowlist_reaches_public_addresses_only(row: dict[str, Any]) -> None:
    decision = listed("a.test:80").decide_address("a.test", 80, ip_address(row["address"]))

    assert (decision.allowed, decision.address_class) == ("N" in row["columns"], row["name"])


@ROWS
def test_a_mark_replaces_public_with_exactly_its_class(row: dict[str, Any]) -> None:
    address = ip_address(row["address"])

    admitting = [
        mark for mark in MARKS if listed(f"a.test:80@{mark}").decide_address("a.test", 80, address).allowed
    ]

    assert admitting == ([row["name"]] if row["marked"] else [])


@ROWS
def test_a_listed_address_is_reached_where_the_table_says_so(row: dict[str, Any]) -> None:
    target = parse_url(url(row["address"]))
    policy = listed(target.key)

    assert policy.decide_target(target).allowed == ("I" in row["columns"])
    assert len(policy.warnings) == ("I" not in row["columns"])
    assert not policy.decide_target(replace(target, port=81)).allowed


def test_what_is_never_reached_says_so_in_every_profile() -> None:
    target = parse_url("http://169.254.169.254/")

    decisions = [
        Policy.parse(profile).decide_target(target) for profile in ("deny-all", "loopback", "private")
    ]

    assert {(each.rule, each.address_class, each.configure) for each in decisions} == {
        ("never", "metadata", None)
    }
    assert listed("169.254.169.254:80").decide_target(target).rule == "never"


def test_a_refusal_names_the_spelling_the_meaning_the_class_and_the_rule() -> None:
    decision = Policy.parse("loopback").decide_target(parse_url("http://[::ffff:10.1.2.3]/"))

    assert decision == Decision(
        allowed=False,
        rule="outside_profile",
        reason="::ffff:a01:203 (10.1.2.3) is private, private use (RFC 1918): profile loopback does not reach it",
        address_class="private",
        configure="PLINTH_FACTS_NET_PROFILE=private",
    )


def test_an_admission_names_the_class_and_the_rule() -> None:
    decision = Policy.parse("loopback").decide_target(parse_url("http://[::1]:8080/"))

    assert decision == Decision(
        allowed=True, rule="profile_loopback", reason="::1 is loopback", address_class="loopback"
    )


NAMES = {
    "deny-all, a name": ("deny-all", "", "a.test", False, "no_lookup", "PLINTH_FACTS_NET_PROFILE=private"),
    "deny-all, localhost": (
        "deny-all",
        "",
        "localhost",
        False,
        "deny_all",
        "PLINTH_FACTS_NET_PROFILE=loopback",
    ),
    "loopback, a name": ("loopback", "", "a.test", True, "profile_loopback", None),
    "loopback, localhost": ("loopback", "", "localhost", True, "profile_loopback", None),
    "private, a name": ("private", "", "a.test", True, "profile_private", None),
    "private, localhost": ("private", "", "x.localhost", True, "profile_private", None),
    "private, metadata": ("private", "", "metadata.google.internal", False, "metadata_name", None),
    "allowlist, listed": ("allowlist", "a.test:80", "A.Test.", True, "listed_name", None),
    "allowlist, metadata listed": ("allowlist", "metadata:80", "metadata", False, "metadata_name", None),
    "allowlist, another port": (
        "allowlist",
        "a.test:81",
        "a.test",
        False,
        "not_listed",
        "PLINTH_FACTS_ALLOW_HOSTS entry a.test:80",
    ),
    "allowlist, another name": (
        "allowlist",
        "a.test:80",
        "b.a.test",
        False,
        "not_listed",
        "PLINTH_FACTS_ALLOW_HOSTS entry b.a.test:80",
    ),
    "allowlist, localhost": (
        "allowlist",
        "127.0.0.1:80",
        "localhost",
        False,
        "not_listed",
        "PLINTH_FACTS_ALLOW_HOSTS entry localhost:80",
    ),
}


@pytest.mark.parametrize("row", NAMES.values(), ids=NAMES)
def test_a_name_is_judged_before_it_is_looked_up(row: tuple[str, str, str, bool, str, str | None]) -> None:
    profile, entries, host, allowed, rule, configure = row

    decision = Policy.parse(profile, entries).decide_target(parse_url(url(host)))

    assert (decision.allowed, decision.rule, decision.configure) == (allowed, rule, configure)


LOOKUPS = {
    "deny-all": {"a.test": "none", "localhost": "none", "127.0.0.1": "none", "::1": "none"},
    "loopback": {"a.test": "local", "localhost": "local", "x.localhost": "local", "127.0.0.1": "none"},
    "private": {"a.test": "dns", "localhost": "local", "x.localhost": "local", "127.0.0.1": "none"},
}


@pytest.mark.parametrize("profile", LOOKUPS)
def test_a_profile_says_where_a_name_may_be_looked_up(profile: str) -> None:
    policy = Policy.parse(profile)

    assert {host: policy.lookup(host) for host in LOOKUPS[profile]} == LOOKUPS[profile]


def test_an_allowlist_looks_names_up_but_never_localhost() -> None:
    policy = listed("a.test:80,localhost:80")

    assert (policy.lookup("a.test"), policy.lookup("localhost")) == ("dns", "local")


@pytest.mark.parametrize("profile", ["deny-all", "loopback"])
def test_a_name_that_nothing_here_knows_is_refused_with_the_profiles_that_would_ask(profile: str) -> None:
    decision = Policy.parse(profile).refuse_lookup("a.test")

    assert (decision.allowed, decision.rule, decision.address_class) == (False, "no_lookup", None)
    assert decision.configure == "PLINTH_FACTS_NET_PROFILE=private"
    assert f"under profile {profile} no DNS query leaves" in decision.reason
    assert "profile private looks up any name, allowlist a listed one" in decision.reason


ADVICE = {
    "a private address by name": (
        "nas.home.arpa:443",
        "nas.home.arpa",
        443,
        "10.0.0.5",
        "nas.home.arpa:443@private",
    ),
    "a loopback address by name": ("svc.test:8080", "svc.test", 8080, "127.0.0.1", "svc.test:8080@loopback"),
    "a shared address by name": (
        "vpn.example:443",
        "vpn.example",
        443,
        "100.64.1.1",
        "vpn.example:443@shared",
    ),
    "a public address under a mark": ("a.test:80@private", "a.test", 80, "8.8.8.8", "a.test:80"),
    "an address that is not listed": ("a.test:80", "10.0.0.5", 80, "10.0.0.5", "10.0.0.5:80"),
    "an IPv6 address that is not listed": ("a.test:80", "::1", 80, "::1", "[::1]:80"),
}


@pytest.mark.parametrize("row", ADVICE.values(), ids=ADVICE)
def test_a_refusal_says_which_entry_to_write_and_that_entry_works(
    row: tuple[str, str, int, str, str],
) -> None:
    entry, host, port, address, expected = row

    decision = listed(entry).decide_address(host, port, ip_address(address))

    assert (decision.allowed, decision.configure) == (False, f"PLINTH_FACTS_ALLOW_HOSTS entry {expected}")
    assert listed(expected).decide_address(host, port, ip_address(address)).allowed


@pytest.mark.parametrize("address", ["192.0.2.1", "198.18.0.1", "192.0.0.9", "2002:7f00:1::"])
def test_no_entry_by_name_reaches_what_has_no_mark(address: str) -> None:
    decision = listed("a.test:80").decide_address("a.test", 80, ip_address(address))

    assert (decision.allowed, decision.configure) == (False, None)


def test_a_host_that_comes_with_capitals_or_a_dot_is_the_listed_one() -> None:
    assert listed("a.test:80").decide_address("A.Test.", 80, ip_address(PUBLIC)).allowed


def test_an_address_of_this_host_counts_as_loopback_for_a_name() -> None:
    address = ip_address("10.0.0.5")

    def decide(entry: str) -> Decision:
        return listed(entry).decide_address("a.test", 80, address, own=True)

    assert (decide("a.test:80").rule, decide("a.test:80@private").rule) == ("own_address", "mark_mismatch")
    assert decide("a.test:80").configure == "PLINTH_FACTS_ALLOW_HOSTS entry a.test:80@loopback"
    assert decide("a.test:80@loopback").allowed


def test_a_public_address_of_this_host_is_not_reached_by_a_plain_name() -> None:
    decision = listed("a.test:80").decide_address("a.test", 80, ip_address(PUBLIC), own=True)

    assert (decision.allowed, decision.rule) == (False, "own_address")


def test_an_address_of_this_host_is_reached_by_profile_private_and_by_its_literal_entry() -> None:
    address = ip_address("10.0.0.5")

    assert Policy.parse("private").decide_address("a.test", 80, address, own=True).allowed
    assert listed("10.0.0.5:80").decide_address("10.0.0.5", 80, address, own=True).allowed


def test_own_addresses_of_a_class_that_no_entry_admits_stay_refused() -> None:
    decision = listed("a.test:80@loopback").decide_address("a.test", 80, ip_address("192.0.0.9"), own=True)

    assert (decision.allowed, decision.rule) == (False, "class_refused")


@pytest.mark.parametrize(
    ("policy", "host"),
    [
        (Policy.parse("loopback"), "127.0.0.1"),
        (Policy.parse("private"), "a.test"),
        (Policy.parse("allowlist", "127.0.0.1:80"), "127.0.0.1"),
        (Policy.parse("allowlist", "a.test:80@loopback"), "a.test"),
    ],
    ids=["loopback", "private", "literal entry", "marked entry"],
)
def test_a_listener_of_our_own_is_never_measured(policy: Policy, host: str) -> None:
    decision = policy.decide_address(host, 80, ip_address(LOOPBACK), own_listener=True)

    assert (decision.allowed, decision.rule, decision.configure) == (False, "own_listener", None)


MIXED = {
    "private: public beside private": (
        "private",
        "",
        [PRIVATE, PUBLIC, LOOPBACK],
        "outside_profile",
        "public",
    ),
    "loopback: private beside loopback": ("loopback", "", [LOOPBACK, PRIVATE], "outside_profile", "private"),
    "loopback with metadata": (
        "allowlist",
        "mix.test:80@loopback",
        [LOOPBACK, "169.254.169.254"],
        "never",
        "metadata",
    ),
    "IPv6 refused beside IPv4": ("allowlist", "mix.test:80", [PUBLIC, "fd00::5"], "not_public", "private"),
    "the gravest speaks": ("loopback", "", [PUBLIC, "169.254.169.254", PRIVATE], "never", "metadata"),
    "of equals the first in the alphabet speaks": (
        "loopback",
        "",
        ["8.8.8.8", PRIVATE],
        "outside_profile",
        "private",
    ),
    "forty and one": (
        "allowlist",
        "mix.test:80",
        [*(f"93.184.216.{n}" for n in range(40)), "fe80::1"],
        "never",
        "link-local",
    ),
    "what cannot be read": ("private", "", [PRIVATE, "fe80::1%"], "never", "zone-id"),
    "what is no address": ("private", "", [PRIVATE, "10.0.0.300"], "unclassifiable", "unclassifiable"),
}


@pytest.mark.parametrize("row", MIXED.values(), ids=MIXED)
def test_one_refused_address_refuses_the_answer_in_every_order(
    row: tuple[str, str, list[str], str, str],
) -> None:
    profile, entries, addresses, rule, name = row
    policy = Policy.parse(profile, entries)

    verdicts = [policy.decide_answer("mix.test", 80, order) for order in (addresses, addresses[::-1])]

    assert verdicts[0].decision == verdicts[1].decision
    assert (verdicts[0].decision.rule, verdicts[0].decision.address_class) == (rule, name)
    assert [verdict.addresses for verdict in verdicts] == [(), ()]
    assert [check.place for check in verdicts[0].checks] == [classify_text(each) for each in addresses]


def test_an_admitted_answer_lists_what_may_be_dialled_once_and_in_its_order() -> None:
    verdict = Policy.parse("private").decide_answer(
        "a.test", 80, ["fd00::5", PRIVATE, f"::ffff:{PRIVATE}", PRIVATE]
    )

    assert verdict.decision.allowed
    assert verdict.addresses == (IPv6Address("fd00::5"), IPv4Address(PRIVATE))
    assert [check.address for check in verdict.checks][:3] == [
        "fd00::5",
        PRIVATE,
        f"::ffff:{PRIVATE} ({PRIVATE})",
    ]


def test_an_answer_without_addresses_admits_nothing() -> None:
    verdict = Policy.parse("private").decide_answer("a.test", 80, [])

    assert (verdict.decision.allowed, verdict.decision.rule, verdict.addresses) == (False, "no_address", ())


def test_an_answer_knows_own_addresses_and_own_listeners() -> None:
    own, listeners = {IPv4Address(PUBLIC)}, {(IPv4Address(LOOPBACK), 80)}
    policy = Policy.parse("allowlist", "a.test:80,b.test:80@loopback")

    rules = [
        policy.decide_answer("a.test", 80, [PUBLIC], own=own, own_listeners=listeners).decision.rule,
        policy.decide_answer(
            "b.test", 80, [f"::ffff:{LOOPBACK}"], own=own, own_listeners=listeners
        ).decision.rule,
        policy.decide_answer("b.test", 80, [PUBLIC], own=own, own_listeners=listeners).decision.rule,
    ]

    assert rules == ["own_address", "own_listener", "listed_name"]


def test_the_advice_for_an_answer_admits_all_of_it_or_is_not_given() -> None:
    policy = Policy.parse("loopback")

    assert (
        policy.decide_answer("a.test", 80, [LOOPBACK, PRIVATE]).decision.configure
        == "PLINTH_FACTS_NET_PROFILE=private"
    )
    assert policy.decide_answer("a.test", 80, [PUBLIC, PRIVATE]).decision.configure is None


NAT64 = "64:ff9b::/96"


@pytest.mark.parametrize(
    ("profile", "entries", "host", "address", "allowed"),
    [
        ("private", "", "a.test", "64:ff9b::a01:203", True),
        ("private", "", "a.test", "64:ff9b::808:808", False),
        ("private", "", "a.test", "64:ff9b::7f00:1", False),
        ("private", "", "a.test", "64:ff9b::a9fe:a9fe", False),
        ("loopback", "", "a.test", "64:ff9b::7f00:1", False),
        ("deny-all", "", "a.test", "64:ff9b::808:808", False),
        ("allowlist", "a.test:80", "a.test", "64:ff9b::808:808", True),
        ("allowlist", "a.test:80", "a.test", "64:ff9b::a01:203", False),
        ("allowlist", "a.test:80@private", "a.test", "64:ff9b::a01:203", True),
        ("allowlist", "a.test:80@loopback", "a.test", "64:ff9b::7f00:1", False),
        ("allowlist", "[64:ff9b::808:808]:80", "64:ff9b::808:808", "64:ff9b::808:808", True),
        ("allowlist", "[64:ff9b::a9fe:a9fe]:80", "64:ff9b::a9fe:a9fe", "64:ff9b::a9fe:a9fe", False),
        ("allowlist", "a.test:80", "a.test", "64:ff9b:1::808:808", False),
    ],
)
def test_behind_a_nat64_prefix_the_inner_address_has_to_pass(
    profile: str, entries: str, host: str, address: str, *, allowed: bool
) -> None:
    policy = Policy.parse(profile, entries, NAT64)

    assert policy.decide_address(host, 80, ip_address(address)).allowed == allowed
    assert not Policy.parse(profile, entries).decide_address(host, 80, ip_address(address)).allowed


@pytest.mark.parametrize(
    ("profile", "entries", "address", "configure"),
    [
        ("allowlist", "a.test:80", "64:ff9b::808:808", "PLINTH_FACTS_NAT64_PREFIXES=64:ff9b::/96"),
        ("private", "", "64:ff9b:1:2::a01:203", "PLINTH_FACTS_NAT64_PREFIXES=64:ff9b:1:2::/96"),
        (
            "allowlist",
            "a.test:80",
            "64:ff9b::a01:203",
            "PLINTH_FACTS_ALLOW_HOSTS entry a.test:80@private and PLINTH_FACTS_NAT64_PREFIXES=64:ff9b::/96",
        ),
        ("private", "", "64:ff9b::7f00:1", None),
    ],
)
def test_the_advice_knows_nat64(profile: str, entries: str, address: str, configure: str | None) -> None:
    decision = Policy.parse(profile, entries).decide_address("a.test", 80, ip_address(address))

    assert (decision.allowed, decision.configure) == (False, configure)


HEADERS = {
    "Metadata": "metadata",
    "METADATA-FLAVOR": "metadata-flavor",
    "X-Google-Metadata-Request": "x-google-metadata-request",
    "X-aws-ec2-metadata-token": "x-aws-ec2-metadata-token*",
    "x-aws-ec2-metadata-token-ttl-seconds": "x-aws-ec2-metadata-token*",
    " Metadata\t": "metadata",
    "X-aliyun-ecs-metadata-token-ttl-seconds": "x-aliyun-ecs-metadata-token*",
    "Metadata-Token": "metadata-token*",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_unlocks_metadata_is_refused(name: str) -> None:
    reason = f"the header {HEADERS[name]} unlocks metadata services and is never sent"

    assert decide_header(name) == Decision(allowed=False, rule="forbidden_header", reason=reason)


@pytest.mark.parametrize("name", ["Accept", "Authorization", "X-Metadata", "Metadata-Flavour", ""])
def test_other_headers_are_not_the_concern_of_policy(name: str) -> None:
    assert decide_header(name) is None


def test_the_settings_of_a_policy_can_be_read_back() -> None:
    policy = Policy.parse("allowlist", "b.test:80,[::1]:81,169.254.1.1:80", NAT64)

    assert (policy.profile, policy.entries) == (
        "allowlist",
        parse_entries("b.test:80,[::1]:81,169.254.1.1:80"),
    )
    assert list(map(str, policy.nat64_prefixes)) == [NAT64]
    assert [warning.split(": ")[1] for warning in policy.warnings] == [
        "entry 169.254.1.1:80 can never be reached"
    ]


def test_settings_that_make_no_policy_are_refused() -> None:
    with pytest.raises(PolicyError):
        Policy.parse("private", "a.test:80")


def test_the_digest_follows_what_is_allowed_and_not_how_it_is_written() -> None:
    digest = listed("a.test:80,b.test:80").digest

    assert digest == listed("B.test.:80, a.test:80").digest
    others = [
        listed("a.test:80"),
        Policy.parse("private"),
        Policy.parse("allowlist", "a.test:80,b.test:80", NAT64),
    ]
    assert len({digest, *(each.digest for each in others)}) == 4
    assert len(digest) == 12


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Policy.parse("deny-all"), "nothing can be measured"),
        (Policy.parse("loopback"), "reaches 127.0.0.0/8 and ::1"),
        (Policy.parse("private"), "reaches loopback, RFC 1918 and fc00::/7 addresses"),
        (listed("a.test:80,[::1]:81"), "reaches exactly a.test:80, [::1]:81."),
        (listed(",".join(f"h{n}.test:80" for n in range(10))), "h7.test:80 and 2 more."),
    ],
    ids=["deny-all", "loopback", "private", "two entries", "ten entries"],
)
def test_the_summary_is_one_sentence_with_profile_and_digest(policy: Policy, words: str) -> None:
    assert policy.summary.startswith(f"Egress policy {policy.profile} (rules {policy.digest}): ")
    assert words in policy.summary
    assert policy.summary.endswith(".")
