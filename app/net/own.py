"""What is ours among addresses: those of our interfaces, and the listeners of this very server."""

from __future__ import annotations

from collections.abc import Callable, Collection
from ipaddress import IPv4Address, IPv6Address

from app.net.network import Address

OwnAddress = Callable[[Address], bool]


class OwnAddresses:
    """A container of the addresses of our interfaces outside loopback; each one asked for is asked once."""

    def __init__(self, is_own_address: OwnAddress) -> None:
        self._is_own_address = is_own_address
        self._known: dict[Address, bool] = {}

    def __contains__(self, address: object) -> bool:
        if not isinstance(address, IPv4Address | IPv6Address) or address.is_loopback:
            return False
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = self._is_own_address(address)
        return known


class OwnListeners:
    """A container of `(address, port)` pairs; one on a wildcard address holds every address of this machine."""

    def __init__(self, listeners: Collection[tuple[Address, int]], own: OwnAddresses) -> None:
        self._listeners = frozenset(listeners)
        self._wild_ports = frozenset(port for address, port in listeners if address.is_unspecified)
        self._own = own

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple):
            return False
        address, port = pair
        if pair in self._listeners:
            return True
        return port in self._wild_ports and (address.is_loopback is True or address in self._own)
