"""A04: all of fe80::/10 and every zone id are refused, listed or not (cloudflare/agents#1326)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import PolicyRefused
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.stream import Trace
from policy import Policy, TargetError, parse_url

CLOCK = SystemClock()
LITERALS = ["[fe80::1]", "[fe81::1]", "[feab::1]", "[febf::1]", "[fec0::1]"]
PROFILES = [("loopback", ""), ("private", ""), ("allowlist", "[fe80::1]:80,[fec0::1]:80,svc.test:80@private")]


def refusal(network: ScriptedNetwork, profile: tuple[str, str], url: str) -> Mapping[str, Any]:
    dialer = Dialer(Policy.parse(*profile), network, CLOCK, budget=None, max_in_flight=0)
    with pytest.raises(PolicyRefused) as caught:
        asyncio.run(dialer.open(parse_url(url), Trace(), Phases(CLOCK)))
    assert caught.value.details is not None
    return caught.value.details


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("host", LITERALS)
def test_a04_link_local_is_never_dialled_even_when_it_is_listed(profile: tuple[str, str], host: str) -> None:
    network = ScriptedNetwork(clock=CLOCK)

    details = refusal(network, profile, f"http://{host}/")

    assert (network.asked, network.dialled) == ([], [])
    assert details["class"] == ("site-local" if "fec0" in host else "link-local")


@pytest.mark.parametrize("host", ["[febf::1%25eth0]", "[::1%25lo]", "[fe80::1%eth0]"])
def test_a04_a_zone_id_in_a_url_is_no_target(host: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_url(f"http://{host}/")

    assert caught.value.reason_code == "zone_id"


@pytest.mark.parametrize("profile", PROFILES[1:])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("fe80::1%eth0", "zone-id", id="link-local with a zone"),
        pytest.param("::ffff:169.254.169.254%eth0", "zone-id", id="mapped metadata with a zone"),
        pytest.param("fe80::1%", "zone-id", id="a zone that is empty"),
        pytest.param("fe80::1::2", "unclassifiable", id="no address at all"),
        pytest.param("", "unclassifiable", id="nothing"),
    ],
)
def test_a04_an_address_that_cannot_be_read_denies_the_whole_answer(
    profile: tuple[str, str], text: str, name: str
) -> None:
    network = ScriptedNetwork({"svc.test": [["10.0.0.1", text]]}, {("10.0.0.1", 80): ["eof"]}, clock=CLOCK)

    details = refusal(network, profile, "http://svc.test/")

    assert (network.dialled, details["class"], len(details["addresses"])) == ([], name, 2)


def test_a04_site_local_is_not_public() -> None:
    network = ScriptedNetwork({"svc.test": [["fec0::1"]]}, clock=CLOCK)

    details = refusal(network, ("allowlist", "svc.test:80"), "http://svc.test/")

    assert (network.dialled, details["class"]) == ([], "site-local")
