"""A05 at the dialer: a later hop gets a lookup and a judgement of its own (gogs/gogs#7031)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import PolicyRefused
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.stream import Trace
from policy import Policy, join_url, parse_url

CLOCK = SystemClock()
FIRST = "http://127.0.0.1:8001/"


def follow(network: ScriptedNetwork, policy: Policy, first: str, location: str) -> PolicyRefused:
    """Open the first hop, then what it points to, which must be refused."""
    dialer = Dialer(policy, network, CLOCK, budget=None, max_in_flight=0)

    async def run() -> None:
        stream = await dialer.open(parse_url(first), Trace(), Phases(CLOCK))
        stream.close()
        target = join_url(parse_url(first), location)
        with pytest.raises(PolicyRefused) as caught:
            await dialer.open(target, Trace(), Phases(CLOCK), hop=1)
        refused.append(caught.value)

    refused: list[PolicyRefused] = []
    asyncio.run(run())
    return refused[0]


@pytest.mark.parametrize(
    ("location", "name"),
    [
        pytest.param("http://169.254.169.254/latest/meta-data/", "metadata", id="the metadata service"),
        pytest.param("http://127.0.0.1:8002/", "loopback", id="an unlisted port"),
        pytest.param("http://[::ffff:127.0.0.1]:8002/", "loopback", id="the same, mapped"),
        pytest.param("http://localhost:8001/", None, id="an unlisted name of the same machine"),
        pytest.param("//0.0.0.0:8001/", "unspecified", id="relative to the scheme"),
    ],
)
def test_a05_a_forbidden_hop_is_refused_and_never_dialled(location: str, name: str | None) -> None:
    network = ScriptedNetwork(peers={("127.0.0.1", 8001): ["eof"]}, clock=CLOCK)

    error = follow(network, Policy.parse("allowlist", "127.0.0.1:8001"), FIRST, location)

    details: Any = error.details
    assert (details["hop"], details["class"]) == (1, name)
    assert (network.asked, network.dialled) == ([], [("127.0.0.1", 8001)])


def test_a05_a_name_that_was_rebound_between_two_hops_is_judged_again() -> None:
    names = {"svc.test": [["10.0.0.1"], ["169.254.169.254"]]}
    network = ScriptedNetwork(names, {("10.0.0.1", 80): ["eof"]}, clock=CLOCK)

    error = follow(network, Policy.parse("private"), "http://svc.test/", "/next")

    assert error.details is not None
    assert (error.details["class"], network.dialled) == ("metadata", [("10.0.0.1", 80)])
