"""The rules themselves, one question at a time."""

from __future__ import annotations

import pytest

from policy.address import classify_text
from policy.allowlist import parse_entries
from policy.decision import Decision, Rule
from policy.judge import Question, judge_address, judge_name, refuse_lookup
from policy.rules import Rules

LISTED = Rules("allowlist", parse_entries("a.test:80,m.test:80@private,10.0.0.1:80,192.0.0.9:80"))


def judged(rules: Rules, host: str, text: str, *, own: bool = False, own_listener: bool = False) -> Decision:
    return judge_address(rules, Question(host, 80, classify_text(text), text, own, own_listener))


REFUSALS: dict[str, tuple[Rules, str, str, Rule, str]] = {
    "unreadable": (
        LISTED,
        "a.test",
        "x",
        "unclassifiable",
        "x is unclassifiable, not an IP address: it cannot be",
    ),
    "zone id": (
        LISTED,
        "a.test",
        "::1%lo",
        "never",
        "::1%lo is zone-id, an address with a zone id (RFC 4007)",
    ),
    "never": (
        LISTED,
        "a.test",
        "224.0.0.1",
        "never",
        "224.0.0.1 is multicast, multicast (RFC 5771): refused in every",
    ),
    "deny-all": (
        Rules("deny-all"),
        "::1",
        "::1",
        "deny_all",
        "::1 is loopback, loopback (RFC 4291): profile deny-all",
    ),
    "loopback": (
        Rules("loopback"),
        "a.test",
        "8.8.8.8",
        "outside_profile",
        "8.8.8.8 is public, the rest of IPv4: ",
    ),
    "private": (
        Rules("private"),
        "a.test",
        "100.64.0.1",
        "outside_profile",
        "100.64.0.1 is shared, shared address",
    ),
    "name not listed": (
        LISTED,
        "b.test",
        "8.8.8.8",
        "not_listed",
        "8.8.8.8 is public, the rest of IPv4: b.test:80 is",
    ),
    "literal not listed": (
        LISTED,
        "::1",
        "::1",
        "not_listed",
        "::1 is loopback, loopback (RFC 4291): [::1]:80 is not",
    ),
    "literal of a closed class": (
        LISTED,
        "192.0.0.9",
        "192.0.0.9",
        "class_refused",
        "192.0.0.9 is ietf-protocol, ",
    ),
    "name of a closed class": (
        LISTED,
        "a.test",
        "192.0.0.9",
        "class_refused",
        "192.0.0.9 is ietf-protocol, IETF",
    ),
    "no mark": (
        LISTED,
        "a.test",
        "10.0.0.1",
        "not_public",
        "10.0.0.1 is private, private use (RFC 1918): the entry",
    ),
    "another mark": (
        LISTED,
        "m.test",
        "127.0.0.1",
        "mark_mismatch",
        "127.0.0.1 is loopback, loopback (RFC 1122): the",
    ),
}


@pytest.mark.parametrize("row", REFUSALS.values(), ids=REFUSALS)
def test_a_refused_address_names_itself_its_class_and_the_rule(
    row: tuple[Rules, str, str, Rule, str],
) -> None:
    rules, host, text, rule, begin = row

    decision = judged(rules, host, text)

    assert (decision.allowed, decision.rule, decision.address_class) == (
        False,
        rule,
        classify_text(text).name,
    )
    assert decision.reason.startswith(begin)


@pytest.mark.parametrize(
    ("rules", "host", "text", "rule"),
    [
        (Rules("loopback"), "a.test", "127.0.0.1", "profile_loopback"),
        (Rules("private"), "a.test", "fd00::1", "profile_private"),
        (LISTED, "10.0.0.1", "::ffff:10.0.0.1", "listed_address"),
        (LISTED, "a.test", "8.8.8.8", "listed_name"),
        (LISTED, "m.test", "192.168.1.1", "listed_name"),
    ],
)
def test_an_admitted_address_names_the_rule(rules: Rules, host: str, text: str, rule: Rule) -> None:
    decision = judged(rules, host, text)

    assert (decision.allowed, decision.rule) == (True, rule)


def test_what_is_never_reached_is_said_before_that_it_is_our_own_listener() -> None:
    assert judged(Rules("private"), "a.test", "169.254.1.1", own_listener=True).rule == "never"
    assert judged(Rules("deny-all"), "a.test", "10.0.0.1", own_listener=True).rule == "own_listener"


def test_own_counts_for_names_and_not_for_literals_or_profiles() -> None:
    assert judged(LISTED, "10.0.0.1", "10.0.0.1", own=True).allowed
    assert judged(Rules("private"), "a.test", "10.0.0.1", own=True).allowed
    assert judged(LISTED, "m.test", "10.0.0.1", own=True).rule == "mark_mismatch"


def test_a_name_is_judged_by_profile_and_list() -> None:
    profiles = (Rules("deny-all"), Rules("loopback"), Rules("private"), LISTED)

    assert [judge_name(rules, "a.test", 80).rule for rules in profiles] == [
        "no_lookup",
        "profile_loopback",
        "profile_private",
        "listed_name",
    ]
    assert [judge_name(rules, "a.test", 81).allowed for rules in profiles] == [False, True, True, False]


def test_a_name_that_may_not_be_looked_up_is_told_who_would() -> None:
    decision = refuse_lookup(Rules("loopback"), "a.test")

    assert decision.rule == "no_lookup"
    assert decision.reason.startswith("a.test is not looked up: under profile loopback no DNS query leaves")
