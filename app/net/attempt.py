"""Attempts to connect: one address after another, each with a token, each an entry of the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from app.clock import Clock
from app.errors import ProbeFailed
from app.net.network import Address, Channel, Network
from app.net.phases import Phases
from app.net.stream import Trace
from app.net.tokens import Tokens
from app.net.visit import Visit


class Attempts:
    """What connecting needs: the network, and the clock that times each attempt."""

    def __init__(self, network: Network, clock: Clock) -> None:
        self._network = network
        self._clock = clock

    async def first(
        self,
        addresses: Sequence[Address],
        port: int,
        trace: Trace,
        phases: Phases,
        tokens: Tokens,
        visit: Visit,
    ) -> Channel:
        """A channel to the first address that connects; else `ProbeFailed` of the last one."""
        phases.begin("connect")
        last: ProbeFailed | None = None
        for address in addresses:
            tokens.spend()
            try:
                return await self._attempt(address, port, trace, phases, visit)
            except ProbeFailed as error:
                last = error
        raise last or ProbeFailed("connect", "unreachable", _no_address(visit))

    async def _attempt(
        self, address: Address, port: int, trace: Trace, phases: Phases, visit: Visit
    ) -> Channel:
        entry: dict[str, Any] = {
            "ip": str(address),
            "port": port,
            "connect_ms": None,
            "error": None,
            "used": False,
        }
        trace.attempts.append(entry)
        began_ns = self._clock.monotonic_ns()
        try:
            channel = await self._dial(address, port, phases, visit)
        except ProbeFailed as error:
            entry["error"] = {"code": error.code, "message": error.message}
            if error.errno is not None:
                entry["error"]["errno"] = error.errno
            raise
        except asyncio.CancelledError:
            entry["error"] = {"code": "cancelled", "message": "stopped before it was connected"}
            raise
        finally:
            entry["connect_ms"] = round((self._clock.monotonic_ns() - began_ns) / 1_000_000, 3)
        entry["used"] = True
        trace.peer = {"address": channel.peer[0], "port": channel.peer[1], "family": family_of(address)}
        trace.local = {"address": channel.local[0], "port": channel.local[1]}
        return channel

    async def _dial(self, address: Address, port: int, phases: Phases, visit: Visit) -> Channel:
        timeout_s = visit.connect_timeout_s
        if timeout_s is None:
            return await self._network.connect(address, port, phases, visit.source)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._network.connect(address, port, phases, visit.source)
        except TimeoutError:
            message = f"not connected within {timeout_s:g} s"
            raise ProbeFailed("connect", "timeout", message) from None


def family_of(address: Address) -> str:
    """`ipv4` or `ipv6`, as facts name it."""
    return "ipv4" if address.version == 4 else "ipv6"


def _no_address(visit: Visit) -> str:
    if visit.source is None:
        return "there is no address to connect to"
    return f"no address of the target can be reached from an {family_of(visit.source)} source"
