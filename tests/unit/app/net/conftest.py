"""Peers for the network tests: a DNS server on loopback and a TLS server in memory; nothing leaves the machine."""

from __future__ import annotations

import gc
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

import dns.exception
import dns.message
import pytest
import trustme

from app.clock import SystemClock
from app.net.phases import Phases

Transport = Literal["udp", "tcp"]
Handler = Callable[[dns.message.Message, Transport], list[bytes]]


@pytest.fixture
def clock() -> SystemClock:
    """The clock of this machine."""
    return SystemClock()


@pytest.fixture
def phases(clock: SystemClock) -> Phases:
    """A watch that has just started."""
    return Phases(clock)


@pytest.fixture
def descriptors() -> Callable[[], set[str]]:
    """Gives the descriptors that are open now, without those of networks that nobody has any more."""

    def listed() -> set[str]:
        gc.collect()
        return set(os.listdir("/proc/self/fd"))

    return listed


class DnsServer:
    """Answers queries over UDP and TCP on one loopback port with what `handler` makes of them."""

    def __init__(self, handler: Handler) -> None:
        self.queries: list[tuple[Transport, str]] = []
        self._handler = handler
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._serve_udp, self._serve_tcp)
        ]
        for thread in self._threads:
            thread.start()

    def _serve_udp(self) -> None:
        while True:
            wire, client = self._udp.recvfrom(65535)
            if not wire:
                return
            for reply in self._replies(wire, "udp"):
                self._udp.sendto(reply, client)

    def _serve_tcp(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return  # closed by the test
            with connection:
                size = int.from_bytes(connection.recv(2), "big")
                for reply in self._replies(connection.recv(size), "tcp"):
                    connection.sendall(reply)

    def _replies(self, wire: bytes, transport: Transport) -> list[bytes]:
        query = dns.message.from_wire(wire)
        self.queries.append((transport, query.question[0].to_text()))
        return self._handler(query, transport)

    def close(self) -> None:
        """Stop both threads."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", self.port))
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        for thread in self._threads:
            thread.join(5)
        self._udp.close()


@pytest.fixture
def dns_server() -> Iterator[Callable[[Handler], DnsServer]]:
    """`dns_server(handler)` starts a server that is closed after the test."""
    servers: list[DnsServer] = []

    def start(handler: Handler) -> DnsServer:
        servers.append(DnsServer(handler))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


class TlsPeer:
    """A `Channel` whose other end is a TLS server in memory: what it decrypts is in `heard`, what it says is queued.

    `says` is encrypted and sent once the handshake is done, `raw` is sent instead of any TLS; `ends` is how the peer
    leaves: `notify` with close_notify, `cut` without, `reset` with a failure.
    """

    peer = ("127.0.0.1", 443)
    local = ("127.0.0.1", 50000)

    def __init__(
        self, context: ssl.SSLContext, says: bytes = b"", raw: bytes | None = None, ends: str = "notify"
    ) -> None:
        self.heard = b""
        self.sni: str | None = None
        self.alert: str | None = None
        self.closed = False
        self.bytes_sent = 0
        self.bytes_received = 0
        self.received_ns = 0
        self.receive_clock: Literal["kernel", "user"] = "user"
        self.late_ns = 0
        self.ended_by_peer: Literal["fin", "reset", "close_notify"] | None = None
        context.sni_callback = self._note_sni
        self._says = says
        self._raw = raw
        self._ends = ends
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ready = False

    def _note_sni(self, _socket: Any, name: str | None, _context: ssl.SSLContext) -> None:
        self.sni = name

    async def send(self, data: bytes) -> None:
        """Take bytes of the client and let the server work on them."""
        self.bytes_sent += len(data)
        self._incoming.write(data)
        if self._raw is not None:
            self._outgoing.write(self._raw)
            self._raw = b""
            return
        try:
            self._work()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLError as error:
            self.alert = error.reason  # of the client, or our own, which is in the queue

    def _work(self) -> None:
        if not self._ready:
            self._tls.do_handshake()
            self._ready = True
            self._tls.write(self._says) if self._says else None
            if self._ends == "notify":
                self._leave()
        while True:
            self.heard += self._tls.read(65536)

    def _leave(self) -> None:
        try:
            self._tls.unwrap()
        except ssl.SSLWantReadError:
            return  # close_notify is in the queue, that of the client has not come yet

    async def receive(self) -> bytes:
        """Everything the server has sent since; the end of the stream when there is nothing."""
        return self.pending()

    def pending(self) -> bytes:
        """Everything the server has sent since."""
        data = self._outgoing.read()
        self.bytes_received += len(data)
        self.received_ns += 1
        return data

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    abort = close

    def tcp_info(self) -> dict[str, int] | None:
        """No kernel is here."""
        return None


@pytest.fixture
def tls_peer() -> type[TlsPeer]:
    """The class of the peer in memory."""
    return TlsPeer


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """An authority that no store of this machine trusts."""
    return trustme.CA()


@pytest.fixture
def server_context(authority: trustme.CA) -> ssl.SSLContext:
    """A server for svc.test and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("svc.test", "127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that trusts the authority alone."""
    path = tmp_path_factory.mktemp("trust") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)
