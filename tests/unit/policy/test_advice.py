"""Advice is only given when it works, the narrowest first."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest

from policy.address import classify_text
from policy.advice import advise, advise_name
from policy.allowlist import parse_entries
from policy.judge import Question
from policy.rules import Rules

LISTED = Rules("allowlist", parse_entries("a.test:80"))


def asked(host: str, *texts: str, own: bool = False) -> list[Question]:
    return [Question(host, 80, classify_text(text), text, own) for text in texts]


PROFILE, HOSTS = "PLINTH_FACTS_NET_PROFILE", "PLINTH_FACTS_ALLOW_HOSTS"


@pytest.mark.parametrize(
    ("rules", "questions", "expected"),
    [
        (Rules("deny-all"), asked("a.test", "127.0.0.1"), f"{PROFILE}=loopback"),
        (Rules("deny-all"), asked("a.test", "127.0.0.1", "10.0.0.1"), f"{PROFILE}=private"),
        (Rules("loopback"), asked("fd00::1", "fd00::1"), f"{PROFILE}=private"),
        (Rules("private"), asked("8.8.8.8", "8.8.8.8"), f"{PROFILE}=allowlist with {HOSTS} entry 8.8.8.8:80"),
        (Rules("private"), asked("a.test", "8.8.8.8"), f"{PROFILE}=allowlist with {HOSTS} entry a.test:80"),
        (
            Rules("private"),
            asked("a.test", "100.64.0.1"),
            f"{PROFILE}=allowlist with {HOSTS} entry a.test:80@shared",
        ),
        (LISTED, asked("localhost", "127.0.0.1"), f"{HOSTS} entry localhost:80"),
        (LISTED, asked("localhost", "100.64.0.1"), None),
        (LISTED, asked("b.test", "8.8.8.8"), f"{HOSTS} entry b.test:80"),
        (LISTED, asked("a.test", "10.0.0.1", own=True), f"{HOSTS} entry a.test:80@loopback"),
        (LISTED, asked("a.test", "10.0.0.1", "8.8.8.8"), None),
        (LISTED, asked("a.test", "169.254.1.1"), None),
        (LISTED, asked("a.test", "10.0.0.1", "x"), None),
        (LISTED, asked("a.test", "192.0.2.1"), None),
        (LISTED, asked("192.0.2.1", "192.0.2.1"), f"{HOSTS} entry 192.0.2.1:80"),
    ],
)
def test_the_narrowest_setting_that_works_is_named(
    rules: Rules, questions: list[Question], expected: str | None
) -> None:
    assert advise(rules, questions) == expected


def test_a_nat64_answer_needs_every_prefix_of_it() -> None:
    questions = asked("a.test", "64:ff9b::808:808", "64:ff9b:1::808:808", "8.8.8.8")

    assert advise(LISTED, questions) == "PLINTH_FACTS_NAT64_PREFIXES=64:ff9b::/96,64:ff9b:1::/96"


def test_a_name_gets_the_setting_that_would_look_it_up() -> None:
    assert advise_name(Rules("loopback"), "a.test", 80) == f"{PROFILE}=private"
    assert advise_name(Rules("deny-all"), "x.localhost", 80) == f"{PROFILE}=loopback"
    assert advise_name(LISTED, "b.test", 80) == f"{HOSTS} entry b.test:80"


def test_a_prefix_that_is_set_already_is_not_advised_again() -> None:
    rules = Rules("private", nat64=(IPv6Network("64:ff9b:1::/48"),))
    text = "64:ff9b:1:808:8:800::"
    question = Question("a.test", 80, classify_text(text, rules.nat64), text)

    assert question.place.label == "public via NAT64"
    assert advise(rules, [question]) == f"{PROFILE}=allowlist with {HOSTS} entry a.test:80"


def test_a_prefix_that_is_set_is_not_read_at_another_length_to_find_advice() -> None:
    rules = Rules("private", nat64=(IPv6Network("64:ff9b:1::/48"),))
    text = "64:ff9b:1:c000:0:900:808:808"
    question = Question("a.test", 80, classify_text(text, rules.nat64), text)

    assert question.place.label == "ietf-protocol via NAT64"
    assert advise(rules, [question]) is None


def test_an_address_that_no_nat64_prefix_can_hold_gets_no_advice() -> None:
    assert advise(LISTED, asked("a.test", "64:ff9b:1:2df:932c:384a:808:808")) is None
