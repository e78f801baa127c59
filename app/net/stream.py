"""What every connected byte stream promises: plain, TLS, or played back from a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol


class Stream(Protocol):
    """A connection to one validated address; failures raise `ProbeFailed` with code and errno."""

    @property
    def bytes_sent(self) -> int:
        """Bytes handed to the kernel, TLS records included."""
        ...

    @property
    def bytes_received(self) -> int:
        """Bytes taken from the kernel, TLS records included."""
        ...

    @property
    def received_ns(self) -> int:
        """Monotonic time at which what `receive` returned last had arrived: the kernel's stamp where there is one."""
        ...

    @property
    def receive_clock(self) -> Literal["kernel", "user"]:
        """`kernel` when every read so far had a stamp of the kernel that could be believed, else `user`."""
        ...

    @property
    def late_ns(self) -> int:
        """The longest time that bytes waited between the kernel's stamp and our read of them."""
        ...

    @property
    def ended_by_peer(self) -> Literal["fin", "reset", "close_notify"] | None:
        """How the peer ended its side, as far as it was seen; None while it has not."""
        ...

    def tcp_info(self) -> dict[str, int] | None:
        """`{rtt_us, min_rtt_us, retransmits, mss, pmtu, …}` of the connection; None where nobody can tell."""
        ...

    async def send(self, data: bytes) -> None:
        """Send everything, or raise `ProbeFailed("send", "reset" | …)`."""
        ...

    async def receive(self) -> bytes:
        """The next bytes in the order of arrival, at most 64 KiB; `b""` at the end of the stream.

        A reset raises `ProbeFailed` with code `reset`; its phase is the one of the watch.
        """
        ...

    def pending(self) -> bytes:
        """Of what has arrived already at most 128 KiB, without waiting; `b""` when nothing has."""
        ...

    def close(self) -> None:
        """Close the socket at once; never raises, never waits."""
        ...


class Trace:
    """What the dialer saw on the way to one stream; filled as it happens, so that failures keep it.

    `resolution` is `{how, resolver, ms, cname, addresses: [{ip, family, class, ttl_s, self?}]}`, an entry of
    `attempts` is `{ip, port, connect_ms, error, used}`, `peer` is `{address, port, family}`, `local` is
    `{address, port}`, `checks` are `{address, class, rule, allowed}`, `tls` is the object of the page on measuring.
    """

    def __init__(self) -> None:
        self.resolution: dict[str, Any] | None = None
        self.attempts: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.peer: dict[str, Any] | None = None
        self.local: dict[str, Any] | None = None
        self.rule: str | None = None
        self.spent: tuple[int, int] | None = None
        """Bytes sent and received on a connection whose TLS handshake failed."""
        self._tls: dict[str, Any] | Callable[[], dict[str, Any]] | None = None

    @property
    def tls(self) -> dict[str, Any] | None:
        """The facts of the handshake; the first reading parses the certificate, so read after the last stamp."""
        if callable(self._tls):
            self._tls = self._tls()
        return self._tls

    @tls.setter
    def tls(self, facts: dict[str, Any] | None) -> None:
        self._tls = facts

    def describe_tls_later(self, describe: Callable[[], dict[str, Any]]) -> None:
        """Keep how the facts are made; they are made when somebody reads them."""
        self._tls = describe
