"""A decision in full, for machines and for people."""

from __future__ import annotations

from typing import Any

import pytest

from policy.egress import Policy
from policy.explain import exit_code, explain, render

SCHEMES_SHOWN = ["http://", "https://", "ws://", "wss://"]
LOOPBACK = Policy.parse("loopback")


def test_a_literal_is_explained_with_its_address() -> None:
    explained = explain(LOOPBACK, "http://[::ffff:127.0.0.1]:8080/a?token=CANARY#f")

    decision: dict[str, Any] = {
        "allowed": True,
        "rule": "profile_loopback",
        "reason": "::ffff:7f00:1 (127.0.0.1) is loopback",
        "address_class": "loopback",
        "configure": None,
    }
    assert explained == {
        "profile": "loopback",
        "rules_digest": LOOPBACK.digest,
        "url": "http://[::ffff:7f00:1]:8080/a",
        "host": "::ffff:7f00:1",
        "port": 8080,
        "literal": True,
        "lookup": "none",
        **decision,
        "addresses": [
            {
                "address": "::ffff:7f00:1 (127.0.0.1)",
                "effective": "127.0.0.1",
                "label": "loopback",
                **decision,
            }
        ],
    }
    assert exit_code(explained) == 0


def test_a_name_is_explained_with_what_it_resolved_to() -> None:
    explained = explain(Policy.parse("private"), "wss://mix.test/", ["10.0.0.1", "8.8.8.8", "fe80::1%"])

    assert [(each["effective"], each["allowed"]) for each in explained["addresses"]] == [
        ("10.0.0.1", True),
        ("8.8.8.8", False),
        (None, False),
    ]
    assert (explained["allowed"], explained["rule"], exit_code(explained)) == (False, "never", 1)


def test_a_name_without_addresses_is_undecided_and_never_a_yes() -> None:
    explained = explain(Policy.parse("private"), "http://nas.test/")

    assert (explained["allowed"], explained["lookup"], explained["addresses"]) == (None, "dns", [])
    assert exit_code(explained) == 2


def test_a_name_that_is_refused_is_not_judged_by_its_addresses() -> None:
    explained = explain(Policy.parse("allowlist", "a.test:80"), "http://b.test/", ["8.8.8.8"])

    assert (explained["rule"], explained["addresses"]) == ("not_listed", [])


def test_what_is_no_target_is_explained_without_being_shown() -> None:
    explained = explain(LOOPBACK, "http://user:CANARY@a.test/")

    assert explained["error"]["reason_code"] == "userinfo_not_allowed"
    assert "CANARY" not in repr(explained) + render(explained)
    assert exit_code(explained) == 2


@pytest.mark.parametrize(
    ("policy", "text", "lines"),
    [
        (
            LOOPBACK,
            "http://10.0.0.1/",
            [
                "refused http://10.0.0.1/",
                "  profile: loopback",
                "  rule: outside_profile",
                "  reason: 10.0.0.1 is private, private use (RFC 1918): profile loopback does not reach it",
                "  to allow it: PLINTH_FACTS_NET_PROFILE=private",
                "  address 10.0.0.1: refused, class private, rule outside_profile",
            ],
        ),
        (
            LOOPBACK,
            "http://nas.test/",
            [
                "undecided http://nas.test/",
                "  profile: loopback",
                "  rule: profile_loopback",
                "  reason: nas.test is looked for in the hosts file only; profile loopback judges its addresses",
                "  lookup: local",
            ],
        ),
        (
            LOOPBACK,
            "ftp://a/",
            [
                "bad input (bad_scheme): the scheme is not one of those allowed: expected "
                + " or ".join(SCHEMES_SHOWN)
            ],
        ),
    ],
    ids=["refused", "a name", "bad input"],
)
def test_an_explanation_is_rendered_in_lines(policy: Policy, text: str, lines: list[str]) -> None:
    assert render(explain(policy, text)).splitlines() == lines


def test_a_name_that_nothing_here_knows_is_explained_as_not_looked_up() -> None:
    explained = explain(LOOPBACK, "http://nas.test/", [])

    assert (explained["allowed"], explained["rule"], explained["addresses"]) == (False, "no_lookup", [])
