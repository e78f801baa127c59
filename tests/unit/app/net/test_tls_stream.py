"""The stream behind a handshake: what it passes on of the connection beneath it."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.clock import SystemClock
from app.net.phases import Phases
from app.net.stream import Trace
from app.net.tls import shake_hands
from app.net.trust import TlsSettings, TrustStore
from policy import parse_url

CLOCK = SystemClock()


@pytest.mark.parametrize(("ends", "told"), [("notify", "close_notify"), ("cut", None)])
def test_how_the_peer_ended_it_is_known(tls_peer: Any, tmp_path: Path, ends: str, told: str | None) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("svc.test").configure_cert(context)

    async def run() -> tuple[Any, ...]:
        trust = await TrustStore(str(tmp_path / "ca.pem")).trust(TlsSettings())
        peer = tls_peer(context, says=b"hi", ends=ends)
        stream = await shake_hands(peer, parse_url("https://svc.test/"), trust, Trace(), Phases(CLOCK), CLOCK)
        while await stream.receive():
            pass
        return stream.ended_by_peer, stream.receive_clock, stream.late_ns, stream.tcp_info()

    assert asyncio.run(run()) == (told, "user", 0, None)


def test_the_end_of_the_connection_has_its_time(tls_peer: Any, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("svc.test").configure_cert(context)

    async def run() -> tuple[int, int]:
        trust = await TrustStore(str(tmp_path / "ca.pem")).trust(TlsSettings())
        peer = tls_peer(context, says=b"hi", ends="cut")
        stream = await shake_hands(peer, parse_url("https://svc.test/"), trust, Trace(), Phases(CLOCK), CLOCK)
        while await stream.receive():
            pass
        return stream.received_ns, peer.received_ns

    told, arrived = asyncio.run(run())

    assert told == arrived
