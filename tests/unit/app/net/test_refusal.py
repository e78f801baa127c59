"""What a refusal tells."""

from __future__ import annotations

from app.net.refusal import checks_of, refusal
from policy import Policy, parse_url

POLICY = Policy.parse("loopback")


def test_a_refused_answer_names_both_spellings_and_every_address() -> None:
    target = parse_url("http://svc.test/a?b=c")
    verdict = POLICY.decide_answer("svc.test", 80, ["127.0.0.1", "::ffff:10.1.2.3"])

    error = refusal(target, 1, verdict.decision, verdict.checks)

    assert (error.code, error.reason_code, error.message) == (
        "policy_denied",
        "outside_profile",
        verdict.decision.reason,
    )
    assert error.details == {
        "hop": 1,
        "url": "http://svc.test/a?b=c",
        "host": "svc.test",
        "port": 80,
        "address": "::ffff:10.1.2.3 (10.1.2.3)",
        "class": "private",
        "rule": "outside_profile",
        "reason": verdict.decision.reason,
        "configure": "PLINTH_FACTS_NET_PROFILE=private",
        "addresses": [
            {"ip": "127.0.0.1", "class": "loopback", "allowed": True},
            {"ip": "::ffff:10.1.2.3 (10.1.2.3)", "class": "private", "allowed": False},
        ],
    }


def test_a_refused_name_has_no_addresses() -> None:
    error = refusal(parse_url("http://svc.test/"), 0, POLICY.refuse_lookup("svc.test"))

    assert error.details is not None
    assert (error.reason_code, error.details["address"], error.details["addresses"]) == (
        "no_lookup",
        None,
        [],
    )


def test_checks_are_facts_of_the_measurement() -> None:
    verdict = POLICY.decide_answer("127.0.0.1", 80, ["127.0.0.1"])

    assert checks_of(verdict.checks) == [
        {"address": "127.0.0.1", "class": "loopback", "rule": "profile_loopback", "allowed": True}
    ]
