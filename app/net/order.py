"""Which address of an answer is tried first: RFC 6724 as far as it needs no source address.

Without sources the rules left are 6 (precedence), 8 (smaller scope) and 10 (otherwise the order of the answer). Asking
the kernel for sources would make the order depend on the routes of the moment; an address that this machine
cannot reach fails at once and is listed as an attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network

from app.net.network import Address

_PRECEDENCE = (
    # RFC 6724, 2.1, longest prefix first; IPv4 stands for ::ffff:0:0/96.
    (IPv6Network("::1/128"), 50),
    (IPv6Network("::ffff:0:0/96"), 35),
    (IPv6Network("::/96"), 1),
    (IPv6Network("2001::/32"), 5),
    (IPv6Network("2002::/16"), 30),
    (IPv6Network("3ffe::/16"), 1),
    (IPv6Network("fec0::/10"), 1),
    (IPv6Network("fc00::/7"), 3),
)
_LINK_LOCAL = (IPv4Network("169.254.0.0/16"), IPv4Network("127.0.0.0/8"))
_IPV6_LINK_LOCAL = (IPv6Network("fe80::/10"), IPv6Network("::1/128"))
_SITE_LOCAL = IPv6Network("fec0::/10")


def in_order(addresses: Sequence[Address]) -> tuple[Address, ...]:
    """The addresses, the one to try first at the front."""
    if len(addresses) < 2:
        return tuple(addresses)
    return tuple(sorted(addresses, key=lambda address: (-precedence(address), scope(address))))


def precedence(address: Address) -> int:
    """The precedence of the default policy table; greater is tried first."""
    if not isinstance(address, IPv6Address):
        return 35
    return next((value for network, value in _PRECEDENCE if address in network), 40)


def scope(address: Address) -> int:
    """The scope as RFC 4007 numbers it: 2 link-local (loopback too), 5 site-local, 14 global (3.1, 3.2)."""
    if not isinstance(address, IPv6Address):
        return 2 if any(address in network for network in _LINK_LOCAL) else 14
    if any(address in network for network in _IPV6_LINK_LOCAL):
        return 2
    return 5 if address in _SITE_LOCAL else 14
