"""Attempts to connect: from where, to what, and what is said of those that fail."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import pytest

from app.clock import SystemClock
from app.errors import ProbeFailed
from app.net.attempt import Attempts
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.stream import Trace
from app.net.tokens import Tokens
from app.net.visit import Visit

CLOCK = SystemClock()
ONE, TWO = ip_address("10.0.0.1"), ip_address("10.0.0.2")


def attempt(network: ScriptedNetwork, addresses: tuple[object, ...], visit: Visit) -> Trace:
    trace = Trace()
    tokens = Tokens(None, "svc.test:80", CLOCK, 0)
    asyncio.run(Attempts(network, CLOCK).first(addresses, 80, trace, Phases(CLOCK), tokens, visit))  # type: ignore[arg-type] # addresses of a test
    return trace


def test_the_first_address_that_connects_is_used_and_every_attempt_listed() -> None:
    trace = attempt(ScriptedNetwork(peers={("10.0.0.2", 80): ["eof"]}, clock=CLOCK), (ONE, TWO), Visit())

    assert [(each["ip"], each["used"]) for each in trace.attempts] == [
        ("10.0.0.1", False),
        ("10.0.0.2", True),
    ]
    assert trace.peer == {"address": "10.0.0.2", "port": 80, "family": "ipv4"}


def test_the_connection_comes_from_the_source() -> None:
    network = ScriptedNetwork(peers={("10.0.0.1", 80): ["eof"]}, clock=CLOCK)

    trace = attempt(network, (ONE,), Visit(source=ip_address("10.0.0.9")))

    assert trace.local is not None
    assert trace.local["address"] == "10.0.0.9"


@pytest.mark.parametrize(
    ("visit", "message"),
    [
        (Visit(), "there is no address to connect to"),
        (
            Visit(source=ip_address("::1")),
            "no address of the target can be reached from an ipv6 source",
        ),
    ],
)
def test_without_an_address_it_is_unreachable(visit: Visit, message: str) -> None:
    with pytest.raises(ProbeFailed, match=message) as caught:
        attempt(ScriptedNetwork(clock=CLOCK), (), visit)

    assert (caught.value.phase, caught.value.code) == ("connect", "unreachable")
