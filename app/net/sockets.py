"""The real network: names through our own resolver, channels through the sockets of this machine."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Literal

from app.clock import Clock
from app.net.channel import SocketChannel, close_descriptor, dial, is_own_address, keep_stamps_on
from app.net.nameservers import Nameserver
from app.net.network import Address, Answer, Spend
from app.net.phases import Phases
from app.net.resolver import Resolver


class SocketNetwork:
    """`Network` on this machine; `resolvers` (addresses) are asked instead of those of resolv.conf."""

    def __init__(
        self,
        clock: Clock,
        *,
        resolvers: Sequence[str | Nameserver] = (),
        hosts_path: str = "/etc/hosts",
        resolv_conf_path: str = "/etc/resolv.conf",
    ) -> None:
        self._clock = clock
        # Early: the kernel takes a moment to begin.
        weakref.finalize(self, close_descriptor, keep_stamps_on())
        self._resolver = Resolver(resolvers, hosts_path=hosts_path, resolv_conf_path=resolv_conf_path)

    def prepare(self) -> None:
        """See `Network`."""
        self._resolver.prepare()

    def is_own_address(self, address: Address) -> bool:
        """See `Network`."""
        return is_own_address(address)

    async def lookup(self, name: str, how: Literal["local", "dns"], spend: Spend) -> Answer:
        """See `Network`."""
        return await self._resolver.lookup(name, how, spend)

    async def connect(
        self, address: Address, port: int, phases: Phases, source: Address | None = None
    ) -> SocketChannel:
        """See `Network`."""
        return await dial(address, port, self._clock, phases, source)
