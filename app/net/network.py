"""The seam of egress: what the dialer needs of a network, kept by real sockets and by a script alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, Protocol

from app.net.phases import Phases
from app.net.stream import Stream

Address = IPv4Address | IPv6Address
Spend = Callable[[], None]
"""Called before each DNS query that leaves; raises when no token is left."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The addresses of one name, as they were given and unjudged: a text may be no address at all.

    `resolver` is the server that answered a DNS query, `cname` the chain of names after the one that was asked,
    `addresses` are `(text, ttl_s)` without repetition; the TTL is None where there is none.
    """

    how: Literal["literal", "hosts", "dns"]
    resolver: str | None
    cname: tuple[str, ...]
    addresses: tuple[tuple[str, int | None], ...]


class Channel(Stream, Protocol):
    """A connected byte stream as the kernel gives it; plain HTTP reads it as it is, TLS wraps it."""

    @property
    def peer(self) -> tuple[str, int]:
        """Address and port of the other end, as the socket says."""
        ...

    @property
    def local(self) -> tuple[str, int]:
        """Address and port of this end."""
        ...

    def abort(self) -> None:
        """Close with a reset, so that nothing of the connection lingers; never raises, never waits."""
        ...


class Network(Protocol):
    """How names become addresses and addresses become channels; asks no policy, the dialer does."""

    def prepare(self) -> None:
        """Load what a DNS lookup needs, before the watch runs; sends nothing."""
        ...

    def is_own_address(self, address: Address) -> bool:
        """Whether an interface of this machine has the address; sends nothing."""
        ...

    async def lookup(self, name: str, how: Literal["local", "dns"], spend: Spend) -> Answer:
        """The addresses of a lower-case name without trailing dot.

        `local` sends nothing: localhost and the hosts file. `dns` sends queries, each after `spend()`. Failures are
        `ProbeFailed("resolve", "name_not_found" | "resolver_failed" | "timeout")`.
        """
        ...

    async def connect(
        self, address: Address, port: int, phases: Phases, source: Address | None = None
    ) -> Channel:
        """A channel to exactly this address; failures are `ProbeFailed("connect", …)`.

        Later failures of the channel carry the phase that `phases` is in.
        """
        ...
