"""Whom to ask: the nameservers of resolv.conf or of the setting, and how long to wait for each.

Of resolv.conf only `nameserver`, `options timeout:` and `options attempts:` count. Search lists do not: the name that
was measured is the name that was given. `RES_OPTIONS` and `LOCALDOMAIN` of the environment are not looked at.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from app.net.network import Address

PORT = 53
MOST_SERVERS = 3
"""As many as glibc asks."""
TRY_SECONDS = 2.0
MOST_TRY_SECONDS = 30
ATTEMPTS = 2
MOST_ATTEMPTS = 5
MOST_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Nameserver:
    """One DNS server of the operator; another port than 53 is for tests."""

    address: Address
    port: int = PORT

    def __str__(self) -> str:
        host = f"[{self.address}]" if self.address.version == 6 and self.port != PORT else str(self.address)
        return host if self.port == PORT else f"{host}:{self.port}"

    @property
    def sockaddr(self) -> tuple[str, int] | tuple[str, int, int, int]:
        """What `connect` takes; a zone id becomes the index of its interface (OSError without that one)."""
        zone = self.address.scope_id if isinstance(self.address, IPv6Address) else None
        if zone is None:
            return (str(self.address), self.port)
        index = int(zone) if zone.isdecimal() else socket.if_nametoindex(zone)
        return (str(self.address).partition("%")[0], self.port, 0, index)


@dataclass(frozen=True, slots=True)
class Nameservers:
    """The servers in order, how long one try at one of them may take, and how many rounds are made."""

    servers: tuple[Nameserver, ...]
    try_seconds: float = TRY_SECONDS
    attempts: int = ATTEMPTS


def configured(resolvers: Sequence[str | Nameserver], resolv_conf_path: str) -> Nameservers:
    """The servers of the setting when it names any, else those of resolv.conf as it is now (none: no file)."""
    if resolvers:
        named = [one if isinstance(one, Nameserver) else Nameserver(ip_address(one)) for one in resolvers]
        return Nameservers(tuple(named))
    try:
        with open(resolv_conf_path, "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        text = ""
    return parse_resolv_conf(text)


def parse_resolv_conf(text: str) -> Nameservers:
    """The servers and times of a resolv.conf; what is not understood is passed over, as everybody does."""
    servers: list[Nameserver] = []
    limits: dict[str, int] = {}
    for line in text.splitlines():
        keyword, *values = line.split() or [""]
        if keyword == "nameserver" and values:
            servers += _server(values[0])
        elif keyword == "options":
            limits.update(_numbers(values))
    return Nameservers(
        tuple(servers[:MOST_SERVERS]),
        float(min(max(limits.get("timeout", 0), 1), MOST_TRY_SECONDS))
        if "timeout" in limits
        else TRY_SECONDS,
        min(max(limits.get("attempts", ATTEMPTS), 1), MOST_ATTEMPTS),
    )


def _server(text: str) -> list[Nameserver]:
    try:
        return [Nameserver(ip_address(text))]
    except ValueError:
        return []


def _numbers(options: Sequence[str]) -> dict[str, int]:
    pairs = (option.partition(":") for option in options)
    return {
        name: int(value)
        for name, _, value in pairs
        if value.isascii() and value.isdecimal() and len(value) < 9
    }
