"""TCP sockets: pinned, non-blocking, and gone when they should be."""

from __future__ import annotations

import asyncio
import os
import resource
import select
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import ProbeFailed, ToolError
from app.net.channel import (
    PENDING_READS,
    RECEIVE_BYTES,
    SocketChannel,
    _check_pin,
    close_descriptor,
    dial,
    is_own_address,
    keep_stamps_on,
    open_socket,
)
from app.net.phases import Phases

HERE = ip_address("127.0.0.1")


def talk(port: int, work: Callable[[SocketChannel, Phases], Awaitable[Any]], address: Any = HERE) -> Any:
    """Dial a loopback port, do the work, close, and give what the work gave."""

    async def run() -> Any:
        phases = Phases(SystemClock())
        channel = await dial(address, port, SystemClock(), phases)
        try:
            return await work(channel, phases)
        finally:
            channel.close()

    return asyncio.run(run())


async def everything(channel: SocketChannel, _phases: Phases) -> bytes:
    received = b""
    while piece := await channel.receive():
        received += piece
    return received


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_channel_carries_bytes_both_ways(byte_server: Any) -> None:
    server = byte_server([["read", b"one", ("wait", 0.02), b"two", "eof"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[bytes, int, int]:
        await channel.send(b"GET / HTTP/1.1\r\n\r\n")
        return await everything(channel, _phases), channel.bytes_sent, channel.bytes_received

    assert talk(server.port, work) == (b"onetwo", 18, 6)
    assert server.requests == [b"GET / HTTP/1.1\r\n\r\n"]


def test_a_channel_knows_both_its_ends(byte_server: Any) -> None:
    server = byte_server([["eof"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[Any, str]:
        return channel.peer, channel.local[0]

    assert talk(server.port, work) == (("127.0.0.1", server.port), "127.0.0.1")


def test_an_ipv6_address_is_reached_over_ipv6_alone(byte_server: Any) -> None:
    server = byte_server([["eof"]], host="::1")

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[Any, int]:
        only = channel._socket.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
        return channel.peer, only

    assert talk(server.port, work, ip_address("::1")) == (("::1", server.port), 1)


def test_a_mapped_address_is_reached_as_the_ipv4_that_it_holds(byte_server: Any) -> None:
    server = byte_server([["eof"]])

    async def work(channel: SocketChannel, _phases: Phases) -> Any:
        return channel.peer, channel._socket.family

    assert talk(server.port, work, ip_address("::ffff:127.0.0.1")) == (
        ("127.0.0.1", server.port),
        socket.AF_INET,
    )


def test_a_source_address_is_used(byte_server: Any) -> None:
    server = byte_server([["eof"]])

    async def run() -> str:
        channel = await dial(HERE, server.port, SystemClock(), Phases(SystemClock()), ip_address("127.0.0.9"))
        channel.close()
        return channel.local[0]

    assert asyncio.run(run()) == "127.0.0.9"


def test_the_arrival_is_stamped_when_it_is_read(byte_server: Any) -> None:
    server = byte_server([[("wait", 0.02), b"x", "hang"]])
    before = SystemClock().monotonic_ns()

    async def work(channel: SocketChannel, _phases: Phases) -> int:
        await channel.receive()
        return channel.received_ns

    assert before < talk(server.port, work) <= SystemClock().monotonic_ns()


def test_a_closed_port_is_refused_with_its_errno() -> None:
    with pytest.raises(ProbeFailed) as caught:
        talk(closed_port(), everything)

    assert (caught.value.phase, caught.value.code, caught.value.errno) == ("connect", "refused", 111)


def test_a_source_that_is_not_ours_is_unreachable(byte_server: Any) -> None:
    server = byte_server([["eof"]])

    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(dial(HERE, server.port, SystemClock(), Phases(SystemClock()), ip_address("192.0.2.1")))

    assert (caught.value.phase, caught.value.code, server.connections) == ("connect", "unreachable", 0)


def test_a_reset_carries_the_phase_of_the_watch(byte_server: Any) -> None:
    server = byte_server([["read", b"x", "reset"]])

    async def work(channel: SocketChannel, phases: Phases) -> tuple[str, str]:
        await channel.send(b"\r\n\r\n")
        phases.begin("head")
        with pytest.raises(ProbeFailed) as caught:
            await everything(channel, phases)
        return caught.value.phase, caught.value.code

    assert talk(server.port, work) == ("head", "reset")


def test_sending_to_a_peer_that_has_reset_fails_in_the_phase_of_sending(byte_server: Any) -> None:
    server = byte_server([["read", "reset"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[str, str]:
        await channel.send(b"\r\n\r\n")
        with pytest.raises(ProbeFailed):
            await channel.receive()
        with pytest.raises(ProbeFailed) as caught:
            await channel.send(b"x")
        return caught.value.phase, caught.value.code

    assert talk(server.port, work) == ("send", "reset")


def test_pending_gives_what_has_arrived_and_does_not_wait(byte_server: Any) -> None:
    server = byte_server([[b"abc", "hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[bytes, bytes]:
        await channel._readable()
        return channel.pending(), channel.pending()

    assert talk(server.port, work) == (b"abc", b"")


def test_pending_takes_a_bounded_part_of_a_flood(byte_server: Any) -> None:
    server = byte_server([[b"x" * 8_388_608, "hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[bool, bytes]:
        await channel._readable()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, select.select, [channel._socket], [], [], 5)
        return len(channel.pending()) <= (1 + PENDING_READS) * RECEIVE_BYTES, await channel.receive()

    bounded, further = talk(server.port, work)
    assert (bounded, further[:1]) == (True, b"x")


def test_pending_leaves_the_end_to_the_next_receive(byte_server: Any) -> None:
    server = byte_server([[b"abc", "eof"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[bytes, bytes, bytes]:
        first = await channel.receive()
        await channel._readable()
        return first, channel.pending(), await channel.receive()

    assert talk(server.port, work) == (b"abc", b"", b"")


def test_pending_leaves_a_reset_to_the_next_receive(byte_server: Any) -> None:
    server = byte_server([["read", "reset"]])

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[bytes, str]:
        await channel.send(b"\r\n\r\n")
        await channel._readable()
        held = channel.pending()
        with pytest.raises(ProbeFailed) as caught:
            await channel.receive()
        return held, caught.value.code

    assert talk(server.port, work) == (b"", "reset")


def test_a_large_message_waits_for_a_slow_reader() -> None:
    async def run() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            channel = await dial(HERE, listener.getsockname()[1], SystemClock(), Phases(SystemClock()))
            accepted, _ = await loop.sock_accept(listener)
            with accepted:
                sending = asyncio.ensure_future(channel.send(b"x" * 20_000_000))
                received = 0
                while received < 20_000_000:
                    received += len(await loop.sock_recv(accepted, 1_000_000))
                await sending
            channel.close()
            return received, channel.bytes_sent

    assert asyncio.run(run()) == (20_000_000, 20_000_000)


def test_closing_twice_is_closing_once_and_ends_a_receive_that_waits(byte_server: Any) -> None:
    server = byte_server([["hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> bytes:
        waiting = asyncio.ensure_future(channel.receive())
        await asyncio.sleep(0)
        channel.close()
        channel.close()
        return await waiting

    assert talk(server.port, work) == b""


def test_sending_on_a_closed_channel_is_a_probe_failure(byte_server: Any) -> None:
    server = byte_server([["hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> str:
        channel.close()
        with pytest.raises(ProbeFailed) as caught:
            await channel.send(b"x")
        return caught.value.code

    assert talk(server.port, work) == "reset"


def test_an_aborted_channel_resets_its_peer() -> None:
    async def run() -> type[BaseException] | None:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            channel = await dial(HERE, listener.getsockname()[1], SystemClock(), Phases(SystemClock()))
            accepted, _ = await loop.sock_accept(listener)
            channel.abort()
            channel.abort()
            with accepted, pytest.raises(ConnectionResetError) as caught:
                await loop.sock_recv(accepted, 1)
            return caught.type

    assert asyncio.run(run()) is ConnectionResetError


def full_listener() -> tuple[socket.socket, list[socket.socket]]:
    """A listener whose queue is full, so that connecting to it hangs; and what fills it."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = [socket.socket() for _ in range(3)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
    return listener, waiting


def test_a_cancelled_connection_leaves_no_descriptor_behind(descriptors: Callable[[], set[str]]) -> None:
    listener, waiting = full_listener()

    async def run() -> bool:
        before = descriptors()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await dial(HERE, listener.getsockname()[1], SystemClock(), Phases(SystemClock()))
        return descriptors() <= before

    clean = asyncio.run(run())
    for one in [listener, *waiting]:
        one.close()

    assert clean


def test_connecting_waits_for_a_listener_whose_queue_is_full() -> None:
    listener, waiting = full_listener()
    listener.setblocking(False)

    async def run() -> tuple[str, int]:
        dialling = asyncio.ensure_future(
            dial(HERE, listener.getsockname()[1], SystemClock(), Phases(SystemClock()))
        )
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        accepted = [await loop.sock_accept(listener)]
        while not dialling.done():
            done, _ = await asyncio.wait({dialling}, timeout=0.05)
            if not done:
                accepted.append(await loop.sock_accept(listener))
        channel = await dialling
        channel.close()
        for one, _ in accepted:
            one.close()
        return channel.peer

    peer, expected = asyncio.run(run()), listener.getsockname()
    for one in [listener, *waiting]:
        one.close()

    assert peer == expected


def test_a_cancelled_receive_leaves_no_descriptor_behind(
    byte_server: Any, descriptors: Callable[[], set[str]]
) -> None:
    server = byte_server([["hang"]])

    async def run() -> bool:
        before = descriptors()
        channel = await dial(HERE, server.port, SystemClock(), Phases(SystemClock()))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await channel.receive()
        assert channel._reader is None
        channel.close()
        return len(descriptors() - before) <= 1 and not asyncio.get_running_loop().remove_reader(
            channel._descriptor
        )

    assert asyncio.run(run())


def test_what_arrived_while_a_receive_was_cancelled_is_not_lost(byte_server: Any) -> None:
    server = byte_server([["read", b"kept", "hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> bytes:
        waiting = asyncio.ensure_future(channel.receive())
        await asyncio.sleep(0)
        await channel.send(b"\r\n\r\n")
        select.select([channel._socket], [], [], 5)
        channel._on_readable()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return channel.pending()

    assert talk(server.port, work) == b"kept"


def test_running_out_of_descriptors_is_not_the_fault_of_the_target() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))

    try:
        with pytest.raises(ToolError) as caught:
            open_socket(HERE, socket.SOCK_STREAM)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert (caught.value.code, caught.value.reason_code) == ("busy", "no_room")


@pytest.mark.parametrize("text", ["127.0.0.1", "::1"])
def test_an_address_of_an_interface_is_ours(text: str) -> None:
    assert is_own_address(ip_address(text))


@pytest.mark.parametrize("text", ["192.0.2.1", "2001:db8::1"])
def test_an_address_of_no_interface_is_not_ours(text: str) -> None:
    assert not is_own_address(ip_address(text))


def pinned(peer: tuple[str, int]) -> tuple[str, bool]:
    """What the check of the pin says to a socket with this peer, and whether it is closed then."""

    async def run() -> tuple[str, bool]:
        clock = SystemClock()
        channel = SocketChannel(
            open_socket(HERE, socket.SOCK_STREAM), peer, ("127.0.0.1", 7), clock, Phases(clock)
        )
        with pytest.raises(ProbeFailed) as caught:
            _check_pin(channel, ("127.0.0.1", 80))
        return caught.value.code, channel._socket.fileno() == -1

    return asyncio.run(run())


def test_a_socket_that_is_its_own_peer_is_told_and_closed() -> None:
    assert pinned(("127.0.0.1", 7)) == ("self_connect", True)


def test_a_peer_that_is_not_the_pinned_address_is_told_and_closed() -> None:
    assert pinned(("127.0.0.2", 80)) == ("protocol_error", True)


def test_a_wake_up_without_bytes_is_not_an_end(byte_server: Any) -> None:
    server = byte_server([["read", b"x", "hang"]])

    async def work(channel: SocketChannel, _phases: Phases) -> bytes:
        waiting = asyncio.ensure_future(channel.receive())
        await asyncio.sleep(0)
        channel._on_readable()
        await channel.send(b"\r\n\r\n")
        return await waiting

    assert talk(server.port, work) == b"x"


class SteppedWall(SystemClock):
    """A clock whose wall time is off by what a test says, as after a step."""

    off_ns = 0

    def wall_ns(self) -> int:
        return super().wall_ns() + self.off_ns


class HeldUpOnce(SystemClock):
    """A clock whose third wall time, of the first read after two connections, comes late: another process ran."""

    def __init__(self) -> None:
        super().__init__()
        self.late_ns = [0, 0, 50_000_000]

    def wall_ns(self) -> int:
        return super().wall_ns() + (self.late_ns.pop(0) if self.late_ns else 0)


def stamped(clock: SystemClock, byte_server: Any, late_s: float = 0.0) -> tuple[SocketChannel, int, int]:
    """A channel that has read once, when it was dialled, and when it read."""
    server, later = byte_server([[b"x", "hang"]]), byte_server([[("wait", late_s), "eof"]])

    async def run() -> tuple[SocketChannel, int, int]:
        before_ns = clock.monotonic_ns()
        channel = await dial(HERE, server.port, clock, Phases(clock))
        other = await dial(HERE, later.port, clock, Phases(clock))
        await other.receive()
        other.close()
        await channel.receive()
        channel.close()
        return channel, before_ns, clock.monotonic_ns()

    return asyncio.run(run())


def test_the_stamp_is_when_the_bytes_came_and_not_when_they_were_read(byte_server: Any) -> None:
    channel, before_ns, after_ns = stamped(SteppedWall(), byte_server, late_s=0.3)

    assert (channel.receive_clock, before_ns <= channel.received_ns) == ("kernel", True)
    assert after_ns - channel.received_ns >= 200_000_000
    assert channel.late_ns >= 200_000_000


@pytest.mark.parametrize("off_s", [-3600, 3600])
def test_a_wall_clock_that_steps_does_not_bend_the_time(byte_server: Any, off_s: int) -> None:
    clock = SteppedWall()
    clock.off_ns = off_s * 1_000_000_000

    channel, before_ns, after_ns = stamped(clock, byte_server)

    assert (channel.receive_clock, channel.late_ns) == ("user", 0)
    assert before_ns <= channel.received_ns <= after_ns


@pytest.mark.parametrize("off_ns", [-100_000_000, 100_000_000])
def test_a_step_between_the_arrival_and_the_read_does_not_bend_the_time(
    byte_server: Any, off_ns: int
) -> None:
    server, clock = byte_server([[("wait", 0.2), b"x", "hang"]]), SteppedWall()

    async def run() -> tuple[int, str, int]:
        channel = await dial(HERE, server.port, clock, Phases(clock))
        select.select([channel._socket], [], [], 5)
        arrived_ns, clock.off_ns = clock.monotonic_ns(), off_ns
        await channel.receive()
        channel.close()
        return channel.received_ns - arrived_ns, channel.receive_clock, channel.late_ns

    error_ns, told, late_ns = asyncio.run(run())

    assert (0 <= error_ns < 90_000_000, told, late_ns) == (True, "user", 0)


def test_being_held_up_between_two_clocks_is_no_step(byte_server: Any) -> None:
    clock = HeldUpOnce()
    channel, before_ns, after_ns = stamped(clock, byte_server)

    assert (channel.receive_clock, clock.late_ns) == ("kernel", [])
    assert before_ns <= channel.received_ns <= after_ns


def test_a_read_with_a_stamp_is_not_before_one_that_had_none(byte_server: Any) -> None:
    clock = SystemClock()

    async def work(channel: SocketChannel, _phases: Phases) -> tuple[int, int, str]:
        channel._stamp([], is_data=True)
        first_ns = channel.received_ns
        between_ns = (clock.monotonic_ns() - channel._stamped_ns) // 2 + clock.monotonic_ns() - first_ns
        stamp = struct.pack("@ll", *divmod(clock.wall_ns() - between_ns, 1_000_000_000))
        channel._stamp([(socket.SOL_SOCKET, 35, stamp)], is_data=True)
        return first_ns, channel.received_ns, channel.receive_clock

    first_ns, second_ns, told = talk(byte_server(["hang"]).port, work)

    assert (second_ns, told) == (first_ns, "user")


def test_a_system_that_does_not_stamp_leaves_the_time_to_us(
    byte_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.net.channel._SO_TIMESTAMPNS", 9999)
    channel, before_ns, after_ns = stamped(SteppedWall(), byte_server)

    assert (channel.receive_clock, channel.late_ns, keep_stamps_on()) == ("user", 0, None)
    assert before_ns <= channel.received_ns <= after_ns


def test_the_end_of_a_stream_has_no_stamp_and_leaves_the_clock_to_the_kernel(byte_server: Any) -> None:
    async def work(channel: SocketChannel, phases: Phases) -> tuple[bytes, str]:
        return await everything(channel, phases), channel.receive_clock

    assert talk(byte_server([[b"x", ("wait", 0.02), "eof"]]).port, work) == (b"x", "kernel")


@pytest.mark.parametrize("option", [None, 9999], ids=["no such option here", "the kernel does not know it"])
def test_a_system_that_knows_nothing_of_a_connection_tells_nothing(
    byte_server: Any, monkeypatch: pytest.MonkeyPatch, option: int | None
) -> None:
    monkeypatch.setattr("app.net.channel._TCP_INFO", option)

    async def work(channel: SocketChannel, _phases: Phases) -> dict[str, int] | None:
        return channel.tcp_info()

    assert talk(byte_server([["hang"]]).port, work) is None


def test_reads_of_one_segment_never_go_back_in_time(byte_server: Any) -> None:
    server = byte_server([[b"x" * 4_000_000, "eof"]])

    async def work(channel: SocketChannel, _phases: Phases) -> list[int]:
        stamps = []
        while await channel.receive():
            stamps.append(channel.received_ns)
        return stamps

    stamps = talk(server.port, work)

    assert len(stamps) > 1
    assert stamps == sorted(stamps)


def test_what_the_kernel_knows_is_told_after_the_end_too(byte_server: Any) -> None:
    async def work(channel: SocketChannel, _phases: Phases) -> list[bool]:
        await everything(channel, _phases)
        open_info = channel.tcp_info()
        channel.close()
        return [info is not None and info["rtt_us"] > 0 for info in (open_info, channel.tcp_info())]

    assert talk(byte_server([[b"x", "eof"]]).port, work) == [True, True]


@pytest.mark.parametrize(("end", "told"), [("eof", "fin"), ("reset", "reset")])
def test_how_the_peer_ended_is_told(byte_server: Any, end: str, told: str) -> None:
    async def work(channel: SocketChannel, phases: Phases) -> str | None:
        with suppress(ProbeFailed):
            await everything(channel, phases)
        return channel.ended_by_peer

    assert talk(byte_server([[b"x", ("wait", 0.05), end]]).port, work) == told


def test_the_keeper_of_stamps_is_a_descriptor_that_can_be_closed() -> None:
    descriptor = keep_stamps_on()

    assert descriptor is not None
    close_descriptor(descriptor)
    close_descriptor(None)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
