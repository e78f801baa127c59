"""A08: an IPv4 address hidden in a transition address is found, named, and refused."""

from __future__ import annotations

import pytest

from policy import Place, Policy, classify_text, parse_url

HIDDEN = {
    "64:ff9b::a9fe:a9fe": ("nat64", "metadata via NAT64"),
    "64:ff9b::7f00:1": ("nat64", "loopback via NAT64"),
    "2002:7f00:1::": ("6to4", "6to4 carrying 127.0.0.1 (loopback)"),
    "2002:a9fe:a9fe::": ("6to4", "6to4 carrying 169.254.169.254 (metadata)"),
    "2001:0:4136:e378:8000:63bf:80ff:fffe": ("teredo", "Teredo carrying 127.0.0.1 (loopback)"),
    "2001:0:4136:e378:8000:63bf:5601:5601": ("teredo", "Teredo carrying 169.254.169.254 (metadata)"),
    "2606:4700::5efe:127.0.0.1": ("isatap", "ISATAP carrying 127.0.0.1 (loopback)"),
    "2606:4700::200:5efe:169.254.169.254": ("isatap", "ISATAP carrying 169.254.169.254 (metadata)"),
    "::127.0.0.1": ("ipv4-compatible", "IPv4-compatible carrying 127.0.0.1 (loopback)"),
    "::ffff:0:127.0.0.1": ("ipv4-translated", "IPv4-translated carrying 127.0.0.1 (loopback)"),
}


@pytest.mark.parametrize("text", HIDDEN)
@pytest.mark.parametrize("profile", ["private", "loopback", "allowlist"])
def test_a08_literals_that_hide_an_ipv4_are_refused_with_kind_and_inner_address(
    text: str, profile: str
) -> None:
    policy = Policy.parse(profile, f"[{text}]:80" if profile == "allowlist" else "")

    decision = policy.decide_target(parse_url(f"http://[{text}]/"))

    name, label = HIDDEN[text]
    assert (decision.allowed, decision.address_class, label in decision.reason) == (False, name, True)


@pytest.mark.parametrize("text", HIDDEN)
def test_a08_answers_that_hide_an_ipv4_are_refused(text: str) -> None:
    verdict = Policy.parse("allowlist", "svc.test:80").decide_answer("svc.test", 80, ["8.8.8.8", text])

    assert (verdict.decision.allowed, verdict.addresses) == (False, ())


def test_a08_a_public_address_via_nat64_is_called_that() -> None:
    place: Place = classify_text("64:ff9b::808:808")

    assert (place.name, place.label, place.never) == ("nat64", "public via NAT64", False)
