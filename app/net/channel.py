"""TCP sockets of this machine: non-blocking channels to pinned addresses, and which addresses are ours.

The rules of this file:
- The system call comes first and waiting only when it would block: a measurement has to cost little itself.
- A read is stamped by the kernel, in the time of day; the stamp is believed when it lies between the last one and
  now, and the time of day has not stepped since the connection: a step must not bend a measurement. Segments that
  wait together in the queue are merged by the kernel and carry the stamp of the last: reading late costs resolution,
  never correctness of the end.
- After the connection the peer must be the pinned address, and not this very socket (TCP self-connect).
- Whatever ends a wait (a cancellation too), no descriptor stays open and no callback stays registered.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
from contextlib import suppress
from ipaddress import IPv6Address
from typing import Literal

from app.clock import Clock
from app.errors import Phase, ProbeFailed, ToolError
from app.net.faults import fault
from app.net.network import Address
from app.net.phases import Phases
from app.net.tcp_info import SIZE as TCP_INFO_SIZE
from app.net.tcp_info import parse_tcp_info

RECEIVE_BYTES = 65536
PENDING_READS = 2
"""Reads of one `pending`: a peer that floods must neither fill the memory nor keep the loop for itself."""
# Linux; lets the kernel choose the port of a bound source when it knows the destination. Python has no name for it.
_IP_BIND_ADDRESS_NO_PORT = 24
# Linux; each read tells when its last segment came. Python has no names for the option and for its message.
_SO_TIMESTAMPNS = 35
_STAMP = struct.Struct("@qq")
_STAMP_ROOM = socket.CMSG_SPACE(_STAMP.size)
_SAME_STAMP_NS = 1_000_000
"""Two reads of one segment bear the same stamp, and our two clocks are read one after the other."""
_STEP_NS = 1_000_000
"""Further apart than this our two clocks move by a step alone: what steers the one steers the other."""
_TCP_INFO = getattr(socket, "TCP_INFO", None)
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def open_socket(address: Address, kind: int) -> socket.socket:
    """A non-blocking socket for that address; an IPv6 one speaks IPv6 alone."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        opened = socket.socket(family, kind | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise fault("connect", error) from error
    if family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return opened


def is_own_address(address: Address) -> bool:
    """Whether an interface of this machine has the address; asked by binding, which sends nothing.

    With `ip_nonlocal_bind` switched on every address looks like ours, which makes the policy stricter.
    """
    with open_socket(address, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False  # the kernel's way to say no
        return True


def keep_stamps_on() -> int | None:
    """A descriptor that keeps the kernel stamping while it is open; None where it does not stamp.

    The kernel stamps packets while any socket wants it, and switching that on and off patches its code: 70 of the
    300 microseconds that a short connection costs, where the sockets of measurements are the only ones that want it.
    """
    keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # never bound: nothing can reach it
    try:
        keeper.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        keeper.close()
        return None
    return keeper.detach()


def close_descriptor(descriptor: int | None) -> None:
    """Close what `keep_stamps_on` gave."""
    if descriptor is not None:
        os.close(descriptor)


async def dial(
    address: Address, port: int, clock: Clock, phases: Phases, source: Address | None = None
) -> SocketChannel:
    """Connect to exactly this address; an IPv4-mapped one is reached as the IPv4 that it holds."""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    pinned = (str(address), port)
    opened = open_socket(address, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError):  # then the stamps are ours, and the answer says so
            opened.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        if source is not None:
            opened.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
            opened.bind((str(source), 0))
        peer = await _connected(opened, pinned)
        channel = SocketChannel(opened, peer, opened.getsockname()[:2], clock, phases)
    except OSError as error:
        opened.close()
        raise fault("connect", error) from error
    except BaseException:
        opened.close()
        raise
    _check_pin(channel, pinned)
    return channel


async def _connected(opened: socket.socket, pinned: tuple[str, int]) -> tuple[str, int]:
    """Connect and give the peer's name as the socket says it."""
    number = opened.connect_ex(pinned)
    if number not in (0, errno.EINPROGRESS):
        raise OSError(number, "connect")
    # On loopback the handshake is over by now, and the question costs less than a turn of the event loop.
    with suppress(OSError):
        return _peer(opened)
    await _wait_connected(opened)
    number = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if number:
        raise OSError(number, "connect")
    return _peer(opened)


def _peer(opened: socket.socket) -> tuple[str, int]:
    host, port, *_ = opened.getpeername()
    return host, port


async def _wait_connected(opened: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()
    loop.add_writer(opened.fileno(), _wake, waiter)
    try:
        await waiter
    finally:
        loop.remove_writer(opened.fileno())


def _check_pin(channel: SocketChannel, pinned: tuple[str, int]) -> None:
    if channel.peer == channel.local:
        channel.abort()
        message = "the socket connected to itself: nothing listens on that port"
        raise ProbeFailed("connect", "self_connect", message)
    if channel.peer != pinned:
        channel.abort()
        message = (
            f"the socket is connected to {channel.peer[0]}:{channel.peer[1]}, not to the address it was given"
        )
        raise ProbeFailed("connect", "protocol_error", message)


def _stamp_ns(told: list[tuple[int, int, bytes]]) -> int:
    """The kernel's stamp of a read, in nanoseconds since 1970; 0, which nobody believes, when it gave none."""
    for level, kind, data in told:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) >= _STAMP.size:
            seconds, rest = _STAMP.unpack_from(data)
            return int(seconds * 1_000_000_000 + rest)
    return 0


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class SocketChannel:
    """A connected TCP socket as a `Channel`; one reader and one writer at a time."""

    def __init__(
        self,
        opened: socket.socket,
        peer: tuple[str, int],
        local: tuple[str, int],
        clock: Clock,
        phases: Phases,
    ) -> None:
        self.peer = peer
        self.local = local
        self.bytes_sent = 0
        self.bytes_received = 0
        self.received_ns = 0
        self.receive_clock: Literal["kernel", "user"] = "kernel"
        self.late_ns = 0
        self.ended_by_peer: Literal["fin", "reset", "close_notify"] | None = None
        self._stamped_ns = clock.monotonic_ns()
        self._epoch_ns = clock.wall_ns() - self._stamped_ns
        self._tcp_info = b""
        self._socket = opened
        self._descriptor = opened.fileno()
        self._clock = clock
        self._phases = phases
        self._loop = asyncio.get_running_loop()
        self._arrived = b""
        self._ended = False
        self._fault: ProbeFailed | ToolError | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    async def send(self, data: bytes) -> None:
        """See `Stream`."""
        rest: bytes | memoryview = data
        while rest:
            try:
                sent = self._socket.send(rest)
            except BlockingIOError:
                await self._writable()
                continue
            except OSError as error:
                raise fault(self._phase("send"), error) from error
            self.bytes_sent += sent
            rest = b"" if sent == len(rest) else memoryview(rest)[sent:]

    async def receive(self) -> bytes:
        """See `Stream`."""
        if not (self._arrived or self._ended or self._fault or self._read()):
            await self._readable()
        if self._arrived:
            arrived, self._arrived = self._arrived, b""
            return arrived
        if self._fault is not None:
            raise self._fault
        return b""

    def pending(self) -> bytes:
        """See `Stream`; a bounded part of a flood, and what ends the stream is told by the next `receive`."""
        pieces = [self._arrived]
        self._arrived = b""
        for _ in range(PENDING_READS):
            if self._ended or self._fault or not self._read():
                break
            pieces.append(self._arrived)
            self._arrived = b""
        return b"".join(pieces)

    def close(self) -> None:
        """See `Stream`; a `receive` that waits ends as at the end of the stream."""
        self._ended = True
        self._stop_reading()
        self._stop_writing()
        self._tcp_info = self._tcp_info or self._ask_tcp_info()
        self._socket.close()

    def tcp_info(self) -> dict[str, int] | None:
        """See `Stream`; after `close` that of the last moment."""
        return parse_tcp_info(self._tcp_info or self._ask_tcp_info())

    def _ask_tcp_info(self) -> bytes:
        if _TCP_INFO is None or self._socket.fileno() < 0:
            return b""
        try:
            return self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, TCP_INFO_SIZE)
        except OSError:
            return b""  # a kernel that cannot tell

    def abort(self) -> None:
        """Close with a reset."""
        if self._socket.fileno() >= 0:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close()

    def _read(self) -> bool:
        """Take what the kernel has; false when it has nothing yet."""
        try:
            data, told, _, _ = self._socket.recvmsg(RECEIVE_BYTES, _STAMP_ROOM)
        except BlockingIOError:
            return False
        except OSError as error:
            self._fault = fault(self._phase("body"), error)
            self._fault.__cause__ = error
            self.ended_by_peer = "reset"
            return True
        self._stamp(told, is_data=bool(data))
        self.bytes_received += len(data)
        self._arrived = data
        if not data:
            self._ended = True
            self.ended_by_peer = "fin"
        return True

    def _stamp(self, told: list[tuple[int, int, bytes]], *, is_data: bool) -> None:
        """Note when the bytes of this read had come; the end of a stream has no stamp, its time is ours."""
        now_ns, before_ns = self._clock.monotonic_ns(), self.received_ns
        self.received_ns = now_ns
        if not is_data:
            return
        wall_ns = self._clock.wall_ns()
        if abs(wall_ns - now_ns - self._epoch_ns) > _STEP_NS:
            # A step, unless we were held up between the two.
            now_ns, wall_ns = self._clock.monotonic_ns(), self._clock.wall_ns()
            if abs(wall_ns - now_ns - self._epoch_ns) > _STEP_NS:
                self.receive_clock = "user"
                return
        age_ns = wall_ns - _stamp_ns(told)
        if 0 <= age_ns <= now_ns - self._stamped_ns + _SAME_STAMP_NS:
            self._stamped_ns = max(self._stamped_ns, now_ns - age_ns)
            self.received_ns = max(
                before_ns, self._stamped_ns
            )  # the one before may have the time of its read
            self.late_ns = max(self.late_ns, age_ns)
        else:
            self.receive_clock = "user"

    async def _readable(self) -> None:
        # The callback reads by itself: its stamp is nearer to the arrival than the turn of the waiting task.
        self._reader = waiter = self._loop.create_future()
        self._loop.add_reader(self._descriptor, self._on_readable)
        try:
            await waiter
        finally:
            self._stop_reading()

    def _on_readable(self) -> None:
        if self._read():
            self._stop_reading()

    def _stop_reading(self) -> None:
        waiter, self._reader = self._reader, None
        if waiter is not None:
            self._loop.remove_reader(self._descriptor)
            _wake(waiter)

    async def _writable(self) -> None:
        self._writer = waiter = self._loop.create_future()
        self._loop.add_writer(self._descriptor, self._stop_writing)
        try:
            await waiter
        finally:
            self._stop_writing()

    def _stop_writing(self) -> None:
        waiter, self._writer = self._writer, None
        if waiter is not None:
            self._loop.remove_writer(self._descriptor)
            _wake(waiter)

    def _phase(self, otherwise: Phase) -> Phase:
        return self._phases.current or otherwise
