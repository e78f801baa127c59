"""What every connected byte stream promises: plain, TLS, or played back from a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


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
        """Monotonic time of the read that yielded what `receive` returned last."""
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
