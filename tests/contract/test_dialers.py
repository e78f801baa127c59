"""What every network under the dialer promises, real sockets and the scripted double alike."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import PolicyRefused, ProbeFailed
from app.net.dialer import Dialer
from app.net.network import Channel, Network
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from policy import Policy, parse_url

CLOCK = SystemClock()
HERE = ip_address("127.0.0.1")
REQUEST = b"GET / HTTP/1.1\r\n\r\n"


class Peer:
    """A network with one peer on loopback that reads a request and then plays the steps, and its port."""

    def __init__(self, network: Network, port: int, received: Callable[[], list[bytes]]) -> None:
        self.network = network
        self.port = port
        self.received = received

    def talk(self, work: Callable[[Channel, Phases], Awaitable[Any]]) -> Any:
        """Connect, send the request, do the work, close."""

        async def run() -> Any:
            phases = Phases(CLOCK)
            channel = await self.network.connect(HERE, self.port, phases)
            await channel.send(REQUEST)
            try:
                return await work(channel, phases)
            finally:
                channel.close()

        return asyncio.run(run())


@pytest.fixture(params=["sockets", "script"])
def peer(request: pytest.FixtureRequest, byte_server: Any) -> Callable[..., Peer]:
    """`peer(*steps)`: the same peer behind either network; `refused` means that nobody listens."""

    def scripted(*steps: Any) -> Peer:
        network = ScriptedNetwork(peers={("127.0.0.1", 80): steps}, clock=CLOCK)
        return Peer(network, 80, lambda: network.received)

    def real(*steps: Any) -> Peer:
        if steps == ("refused",):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                return Peer(SocketNetwork(CLOCK), listener.getsockname()[1], list)
        server = byte_server([["read", *("hang" if step == "silence" else step for step in steps)]])
        return Peer(SocketNetwork(CLOCK), server.port, lambda: server.requests)

    return scripted if request.param == "script" else real


async def everything(channel: Channel, _phases: Phases) -> bytes:
    received = b""
    while piece := await channel.receive():
        received += piece
    return received


def test_bytes_arrive_in_order_until_the_end_which_stays_the_end(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, phases: Phases) -> tuple[bytes, bytes]:
        return await everything(channel, phases), await channel.receive()

    assert peer(b"one", b"two", b"three", "eof").talk(work) == (b"onetwothree", b"")


def test_the_peer_receives_what_was_sent_and_both_are_counted(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, phases: Phases) -> tuple[int, int]:
        await everything(channel, phases)
        return channel.bytes_sent, channel.bytes_received

    one = peer(b"four", "eof")

    assert (one.talk(work), one.received()) == ((len(REQUEST), 4), [REQUEST])


def test_the_channel_names_the_address_that_was_dialled(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, _phases: Phases) -> tuple[tuple[str, int], str]:
        return channel.peer, channel.local[0]

    one = peer("eof")

    assert one.talk(work) == (("127.0.0.1", one.port), "127.0.0.1")


def test_the_stamp_of_a_read_lies_between_before_and_after(peer: Callable[..., Peer]) -> None:
    before = CLOCK.monotonic_ns()

    async def work(channel: Channel, _phases: Phases) -> bool:
        await channel.receive()
        return before <= channel.received_ns <= CLOCK.monotonic_ns()

    assert peer(b"x", "silence").talk(work)


def test_a_reset_is_a_failure_of_the_phase_that_runs(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, phases: Phases) -> tuple[str, str]:
        phases.begin("body")
        with pytest.raises(ProbeFailed) as caught:
            await everything(channel, phases)
        return caught.value.phase, caught.value.code

    assert peer("reset").talk(work) == ("body", "reset")


def test_nobody_listening_is_refused(peer: Callable[..., Peer]) -> None:
    with pytest.raises(ProbeFailed) as caught:
        peer("refused").talk(everything)

    assert (caught.value.phase, caught.value.code) == ("connect", "refused")


def test_silence_lasts_until_the_deadline_of_the_caller(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, _phases: Phases) -> bytes:
        async with asyncio.timeout(0.02):
            return await channel.receive()

    with pytest.raises(TimeoutError):
        peer("silence").talk(work)


def test_pending_does_not_wait_and_what_it_gives_is_not_given_again(peer: Callable[..., Peer]) -> None:
    async def work(channel: Channel, phases: Phases) -> bytes:
        return (
            channel.pending()
            + await channel.receive()
            + channel.pending()
            + await everything(channel, phases)
        )

    assert peer(b"abc", b"def", "eof").talk(work) == b"abcdef"


@pytest.mark.parametrize("leave", ["close", "abort"])
def test_leaving_twice_is_harmless_and_ends_the_stream(peer: Callable[..., Peer], leave: str) -> None:
    async def work(channel: Channel, _phases: Phases) -> tuple[bytes, bytes, str]:
        getattr(channel, leave)()
        getattr(channel, leave)()
        with pytest.raises(ProbeFailed) as caught:
            await channel.send(b"x")
        return channel.pending(), await channel.receive(), caught.value.code

    assert peer("silence").talk(work) == (b"", b"", "reset")


def test_localhost_is_known_without_a_query(peer: Callable[..., Peer]) -> None:
    answer = asyncio.run(peer("eof").network.lookup("localhost", "local", lambda: None))

    assert (answer.how, answer.addresses) == ("hosts", (("127.0.0.1", None), ("::1", None)))


def test_a_name_that_is_not_local_is_not_found_locally(peer: Callable[..., Peer]) -> None:
    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(peer("eof").network.lookup("svc.invalid", "local", lambda: None))

    assert (caught.value.phase, caught.value.code) == ("resolve", "name_not_found")


def test_an_address_of_documentation_is_not_ours(peer: Callable[..., Peer]) -> None:
    assert peer("eof").network.is_own_address(ip_address("192.0.2.1")) is False


def test_a_denied_target_is_never_dialled(peer: Callable[..., Peer]) -> None:
    one = peer(b"x", "eof")
    dialer = Dialer(Policy.parse("deny-all"), one.network, CLOCK, budget=None, max_in_flight=0)

    with pytest.raises(PolicyRefused):
        asyncio.run(dialer.open(parse_url(f"http://127.0.0.1:{one.port}/"), Trace(), Phases(CLOCK)))

    assert one.received() == []


def test_an_admitted_target_gives_a_stream(peer: Callable[..., Peer]) -> None:
    one, trace = peer(b"hello", "eof"), Trace()
    dialer = Dialer(Policy.parse("loopback"), one.network, CLOCK, budget=None, max_in_flight=0)

    async def run() -> bytes:
        phases = Phases(CLOCK)
        stream = await dialer.open(parse_url(f"http://127.0.0.1:{one.port}/"), trace, phases)
        await stream.send(REQUEST)
        received = await stream.receive()
        stream.close()
        return received

    assert asyncio.run(run()) == b"hello"
    assert trace.peer == {"address": "127.0.0.1", "port": one.port, "family": "ipv4"}
