"""How the measurements of one call reach their first target: what the caller chose, and what they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.net.network import Address
from app.net.trust import TlsSettings
from policy import HostPort, Target

if TYPE_CHECKING:
    from app.net.tokens import Tokens

Place = HostPort | Target
"""What is resolved, judged and connected to."""


@dataclass(frozen=True, slots=True)
class Route:
    """The addresses of one validated answer, in the order in which they are tried, and what was judged.

    Made by the dialer alone: to hold one is to have passed the policy, for this call.
    """

    addresses: tuple[Address, ...]
    rule: str
    checks: list[dict[str, Any]]
    resolution: dict[str, Any]


@dataclass(slots=True)
class Visit:
    """What one call wants of its first hop; later hops take `source`, `tls` and `connect_timeout_s` from it alone.

    `connect_to` is where the connection goes instead of to the target's host and port; `source` the local address;
    `measurements` how many of the target the call will take, all of them reserved before the first packet.
    `each_address` takes every address of the answer by itself, `place` is the one whose turn it is. `route` and
    `tokens` are filled by the dialer: one lookup and one judgement serve the whole call.
    """

    connect_to: HostPort | None = None
    source: Address | None = None
    tls: TlsSettings = field(default_factory=TlsSettings)
    connect_timeout_s: float | None = None
    measurements: int = 1
    each_address: bool = False
    place: int = 0
    route: Route | None = None
    tokens: Tokens | None = None

    def turn(self, route: Route) -> tuple[Address, ...]:
        """The addresses to try now: all in their order, or the one whose turn it is."""
        addresses = tuple(each for each in route.addresses if self.can_reach(each))
        return addresses[self.place : self.place + 1] if self.each_address else addresses

    def can_reach(self, address: Address) -> bool:
        """Whether the source, if one was given, is of the family of this address."""
        return self.source is None or self.source.version == address.version
