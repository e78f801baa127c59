"""The test double itself; what it shares with real sockets is in the contract of dialers."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import pytest

from app.clock import SystemClock
from app.errors import ProbeFailed
from app.net.network import Answer
from app.net.phases import Phases
from app.net.scripted import LookupFailure, ScriptedNetwork, Step

CLOCK = SystemClock()
HERE = ip_address("127.0.0.1")


def free() -> None:
    """Spends nothing."""


def peer(*steps: Step) -> ScriptedNetwork:
    return ScriptedNetwork(peers={("127.0.0.1", 80): steps}, clock=CLOCK)


def test_each_lookup_gets_its_answer_and_the_last_one_stays() -> None:
    network = ScriptedNetwork({"svc.test": [["10.0.0.1"], ["127.0.0.1"]]}, clock=CLOCK)

    answers = [asyncio.run(network.lookup("svc.test", "dns", free)).addresses for _ in range(3)]

    assert answers == [(("10.0.0.1", 60),), (("127.0.0.1", 60),), (("127.0.0.1", 60),)]
    assert network.asked == ["svc.test"] * 3


@pytest.mark.parametrize("code", ["name_not_found", "resolver_failed", "timeout"])
def test_a_lookup_can_fail(code: LookupFailure) -> None:
    network = ScriptedNetwork({"svc.test": [code]}, clock=CLOCK)

    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(network.lookup("svc.test", "dns", free))

    assert (caught.value.phase, caught.value.code) == ("resolve", code)


def test_a_name_that_is_not_listed_is_not_found() -> None:
    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(ScriptedNetwork(clock=CLOCK).lookup("svc.test", "dns", free))

    assert caught.value.code == "name_not_found"


def test_local_names_are_localhost_and_those_of_the_hosts_table() -> None:
    network = ScriptedNetwork(hosts={"nas": [["10.0.0.1"]]}, clock=CLOCK)
    network.prepare()

    assert asyncio.run(network.lookup("nas", "local", free)) == Answer(
        "hosts", None, (), (("10.0.0.1", None),)
    )
    assert asyncio.run(network.lookup("localhost", "local", free)).addresses == (
        ("127.0.0.1", None),
        ("::1", None),
    )
    with pytest.raises(ProbeFailed):
        asyncio.run(network.lookup("svc.test", "local", free))
    assert network.asked == []


def test_a_lookup_by_dns_spends_as_real_ones_do() -> None:
    spent: list[str] = []
    network = ScriptedNetwork({"svc.test": [["10.0.0.1"]]}, clock=CLOCK)

    asyncio.run(network.lookup("svc.test", "dns", lambda: spent.append("token")))

    assert len(spent) == 2


@pytest.mark.parametrize("step", ["refused", "unreachable", "timeout", "self_connect"])
def test_a_peer_can_fail_to_connect(step: Step) -> None:
    network = peer(step)

    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(network.connect(HERE, 80, Phases(CLOCK)))

    assert (caught.value.phase, caught.value.code, network.dialled) == ("connect", step, [("127.0.0.1", 80)])


def test_the_source_is_the_local_end() -> None:
    channel = asyncio.run(peer("eof").connect(HERE, 80, Phases(CLOCK), ip_address("127.0.0.9")))

    assert channel.local[0] == "127.0.0.9"


def test_silence_lasts_until_the_deadline() -> None:
    async def run() -> None:
        channel = await peer(b"x", "silence").connect(HERE, 80, Phases(CLOCK))
        await channel.receive()
        async with asyncio.timeout(0.01):
            await channel.receive()

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_a_reset_breaks_sending_and_receiving_in_the_phase_of_the_watch() -> None:
    async def run() -> list[tuple[str, str]]:
        phases = Phases(CLOCK)
        channel = await peer("reset").connect(HERE, 80, phases)
        phases.begin("head")
        with pytest.raises(ProbeFailed) as received:
            await channel.receive()
        phases.pause()
        with pytest.raises(ProbeFailed) as sent:
            await channel.send(b"x")
        return [(error.value.phase, error.value.code) for error in (received, sent)]

    assert asyncio.run(run()) == [("head", "reset"), ("send", "reset")]


def test_what_each_connection_was_sent_is_kept() -> None:
    network = peer(b"x")

    async def run() -> None:
        for text in (b"one", b"two"):
            channel = await network.connect(HERE, 80, Phases(CLOCK))
            await channel.send(text)
            channel.abort()
            channel.close()

    asyncio.run(run())

    assert network.received == [b"one", b"two"]
    assert [channel.closed for channel in network.channels] == ["abort", "abort"]


def test_own_addresses_are_those_of_the_script() -> None:
    network = ScriptedNetwork(own={"10.1.2.3"}, clock=CLOCK)

    assert [network.is_own_address(ip_address(text)) for text in ("10.1.2.3", "10.1.2.4")] == [True, False]
