"""A07: spellings of one name get one verdict, and the dot goes to Host alone (GHSA-qwrf-gfpj-qvj6)."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from typing import Any

import pytest
import trustme

from app.clock import SystemClock
from app.errors import PolicyRefused, ProbeFailed
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.scripted import ScriptedNetwork
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from app.net.trust import TrustStore
from policy import Policy, TargetError, parse_url

CLOCK = SystemClock()


@pytest.mark.parametrize("host", ["svc.test", "svc.test.", "SVC.Test", "Svc.TEST."])
def test_a07_every_spelling_of_a_listed_name_is_looked_up_as_that_name(host: str) -> None:
    network = ScriptedNetwork({"svc.test": [["127.0.0.1"]]}, {("127.0.0.1", 80): ["eof"]}, clock=CLOCK)
    dialer = Dialer(
        Policy.parse("allowlist", "svc.test:80@loopback"), network, CLOCK, budget=None, max_in_flight=0
    )

    asyncio.run(dialer.open(parse_url(f"http://{host}/"), Trace(), Phases(CLOCK)))

    assert (network.asked, network.dialled) == (["svc.test"], [("127.0.0.1", 80)])


@pytest.mark.parametrize("host", ["svc.test", "svc.test.", "SVC.Test"])
def test_a07_the_unmarked_entry_refuses_every_spelling(host: str) -> None:
    network = ScriptedNetwork({"svc.test": [["127.0.0.1"]]}, clock=CLOCK)
    dialer = Dialer(Policy.parse("allowlist", "svc.test:80"), network, CLOCK, budget=None, max_in_flight=0)

    with pytest.raises(PolicyRefused) as caught:
        asyncio.run(dialer.open(parse_url(f"http://{host}/"), Trace(), Phases(CLOCK)))

    assert network.dialled == []
    assert "svc.test:80@loopback" in str(dict(caught.value.details or {})["configure"])


def test_a07_localhost_with_a_dot_is_localhost() -> None:
    network = ScriptedNetwork(peers={("::1", 80): ["eof"]}, clock=CLOCK)
    dialer = Dialer(Policy.parse("loopback"), network, CLOCK, budget=None, max_in_flight=0)

    asyncio.run(dialer.open(parse_url("http://localhost./"), Trace(), Phases(CLOCK)))

    assert (network.asked, network.dialled) == ([], [("::1", 80)])


def test_a07_an_address_with_a_dot_is_that_address_and_not_a_name() -> None:
    network = ScriptedNetwork(clock=CLOCK)
    dialer = Dialer(Policy.parse("private"), network, CLOCK, budget=None, max_in_flight=0)

    with pytest.raises(PolicyRefused) as caught:
        asyncio.run(dialer.open(parse_url("http://169.254.169.254./"), Trace(), Phases(CLOCK)))

    assert (network.asked, network.dialled) == ([], [])
    assert dict(caught.value.details or {})["class"] == "metadata"


@pytest.mark.parametrize("host", ["[svc.test]", "[[svc.test]]", "svc.test.."])
def test_a07_brackets_around_a_name_and_two_dots_are_no_target(host: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_url(f"http://{host}/")

    assert caught.value.reason_code == "bad_input"


class TlsServer:
    """Accepts one TLS connection on loopback and notes the name that it was asked for."""

    def __init__(self, authority: trustme.CA, name: str) -> None:
        self.names: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with self._listener, connection:
            try:
                self._context.wrap_socket(connection, server_side=True).close()
            except OSError:
                return  # the client did not like the certificate

    def join(self) -> None:
        """Wait until the connection is over."""
        self._thread.join(5)


def measure(tmp_path: Any, certified: str, host: str) -> tuple[TlsServer, Trace]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    (tmp_path / "hosts").write_text("127.0.0.1 svc.test\n")
    server, trace = TlsServer(authority, certified), Trace()
    network = SocketNetwork(CLOCK, hosts_path=str(tmp_path / "hosts"))
    policy = Policy.parse("allowlist", f"svc.test:{server.port}@loopback")
    dialer = Dialer(
        policy, network, CLOCK, budget=None, max_in_flight=0, trust_store=TrustStore(str(tmp_path / "ca.pem"))
    )

    async def run() -> None:
        try:
            stream = await dialer.open(parse_url(f"https://{host}:{server.port}/"), trace, Phases(CLOCK))
            stream.close()
        finally:
            server.join()

    asyncio.run(run())
    return server, trace


def test_a07_the_name_goes_out_without_the_dot_and_is_checked_without_it(tmp_path: Any) -> None:
    server, trace = measure(tmp_path, certified="svc.test", host="SVC.Test.")

    assert server.names == ["svc.test"]
    assert trace.tls is not None
    assert (trace.tls["sni"], trace.tls["verify"]["host_checked"]) == ("svc.test", "svc.test")


def test_a07_another_name_on_the_certificate_fails_the_check(tmp_path: Any) -> None:
    with pytest.raises(ProbeFailed) as caught:
        measure(tmp_path, certified="other.test", host="svc.test.")

    assert (caught.value.phase, caught.value.code) == ("tls", "certificate_wrong_name")
