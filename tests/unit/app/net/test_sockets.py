"""The real network puts the resolver and the sockets together."""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import dns.message
import dns.rrset

from app.clock import SystemClock
from app.net.nameservers import Nameserver
from app.net.network import Answer
from app.net.phases import Phases
from app.net.sockets import SocketNetwork


def test_a_name_of_the_hosts_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("10.0.0.1 svc.test\n")
    network = SocketNetwork(SystemClock(), hosts_path=str(tmp_path / "hosts"))

    answer = asyncio.run(network.lookup("svc.test", "local", lambda: None))

    assert answer == Answer("hosts", None, (), (("10.0.0.1", None),))


def test_the_resolvers_of_the_setting_are_asked(dns_server: Any) -> None:
    def handler(query: dns.message.Message, _transport: str) -> list[bytes]:
        reply = dns.message.make_response(query)
        if query.question[0].rdtype == 1:
            reply.answer = [dns.rrset.from_text("svc.test.", 5, "IN", "A", "10.0.0.1")]
        return [reply.to_wire()]

    server = dns_server(handler)
    network = SocketNetwork(SystemClock(), resolvers=[Nameserver(ip_address("127.0.0.1"), server.port)])
    network.prepare()

    answer = asyncio.run(network.lookup("svc.test", "dns", lambda: None))

    assert "app.net.queries" in sys.modules
    assert answer == Answer("dns", f"127.0.0.1:{server.port}", (), (("10.0.0.1", 5),))


def test_an_address_is_dialled(byte_server: Any) -> None:
    server = byte_server([[b"hello", "eof"]])
    clock = SystemClock()

    async def run() -> bytes:
        channel = await SocketNetwork(clock).connect(ip_address("127.0.0.1"), server.port, Phases(clock))
        received = await channel.receive()
        channel.close()
        return received

    assert asyncio.run(run()) == b"hello"


def test_loopback_is_ours_and_documentation_space_is_not() -> None:
    network = SocketNetwork(SystemClock())

    assert [network.is_own_address(ip_address(text)) for text in ("127.0.0.1", "192.0.2.1")] == [True, False]
