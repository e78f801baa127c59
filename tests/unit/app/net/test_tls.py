"""TLS in memory: the handshake, its facts also when it fails, and the stream behind it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Literal

import pytest
import trustme

from app.clock import SystemClock
from app.errors import ProbeFailed
from app.net.phases import Phases
from app.net.stream import Trace
from app.net.tls import shake_hands
from app.net.tls_faults import tls_fault
from app.net.tls_stream import TlsStream
from app.net.trust import TlsSettings, TrustStore
from policy import parse_url

CLOCK = SystemClock()
Work = Callable[[TlsStream, Phases], Any]


async def nothing(_stream: TlsStream, _phases: Phases) -> None:
    """Only the handshake."""


async def everything(stream: TlsStream, _phases: Phases) -> bytes:
    received = b""
    while piece := await stream.receive():
        received += piece
    return received


def handshake(
    peer: Any, ca_file: str, work: Work = nothing, url: str = "https://svc.test/", trace: Trace | None = None
) -> Any:
    """Shake hands with the peer, do the work, and give what it gave."""

    async def run() -> Any:
        phases = Phases(CLOCK)
        trust = await TrustStore(ca_file).trust(TlsSettings())
        stream = await shake_hands(peer, parse_url(url), trust, trace or Trace(), phases, CLOCK)
        return await work(stream, phases)

    return asyncio.run(run())


def failure(peer: Any, ca_file: str, url: str = "https://svc.test/") -> tuple[ProbeFailed, dict[str, Any]]:
    trace = Trace()
    with pytest.raises(ProbeFailed) as caught:
        handshake(peer, ca_file, url=url, trace=trace)
    assert trace.tls is not None
    assert peer.closed
    return caught.value, trace.tls


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_handshake_is_described(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str, version: str
) -> None:
    server_context.maximum_version = ssl.TLSVersion[version.replace(".", "_")]
    server_context.set_alpn_protocols(["http/1.1"])
    trace = Trace()

    handshake(tls_peer(server_context), ca_file, trace=trace)

    tls = trace.tls
    assert tls is not None
    assert (tls["version"], tls["alpn"], tls["sni"]) == (version, "http/1.1", "svc.test")
    assert tls["cipher"].startswith(("TLS_", "ECDHE-"))
    assert tls["handshake_ms"] > 0
    assert [leaf["san"]["dns"] for leaf in tls["chain"]] == [["svc.test"]]
    assert tls["verify"] == {
        "mode": "strict",
        "store": ca_file,
        "code": 0,
        "text": "ok",
        "depth": None,
        "host_checked": "svc.test",
    }


def test_the_name_is_sent_without_its_trailing_dot(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context)

    handshake(peer, ca_file, url="https://SVC.test./")

    assert peer.sni == "svc.test"


def test_an_address_is_checked_and_not_sent(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer, trace = tls_peer(server_context), Trace()

    handshake(peer, ca_file, url="https://127.0.0.1/", trace=trace)

    assert trace.tls is not None
    assert (peer.sni, trace.tls["sni"], trace.tls["verify"]["host_checked"]) == (None, None, "127.0.0.1")


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_failed_verification_keeps_certificate_version_and_cipher(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str, version: str
) -> None:
    server_context.maximum_version = ssl.TLSVersion[version.replace(".", "_")]
    peer = tls_peer(server_context)

    error, tls = failure(peer, ca_file, url="https://other.test/")

    assert (error.phase, error.code) == ("tls", "certificate_wrong_name")
    assert (tls["version"], tls["sni"], len(tls["chain"])) == (version, "other.test", 1)
    assert tls["cipher"].startswith(("TLS_", "ECDHE-"))
    assert (tls["verify"]["code"], tls["verify"]["host_checked"]) == (62, "other.test")
    assert peer.heard == b""


def test_an_unknown_issuer_has_its_own_code(
    tls_peer: Any, server_context: ssl.SSLContext, tmp_path: Any
) -> None:
    path = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(path))

    peer = tls_peer(server_context)
    error, tls = failure(peer, str(path))

    assert (error.code, tls["verify"]["code"]) == ("certificate_unknown_issuer", 20)
    assert peer.alert == "TLSV1_ALERT_UNKNOWN_CA"


def test_a_peer_that_speaks_no_tls_has_no_certificate(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    error, tls = failure(tls_peer(server_context, raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"), ca_file)

    assert (error.phase, error.code, error.message) == ("tls", "tls_failed", "TLS: wrong version number")
    assert (tls["version"], tls["cipher"], tls["chain"]) == (None, None, [])
    assert (tls["verify"]["code"], tls["verify"]["text"]) == (None, None)


def test_a_peer_that_hangs_up_has_its_own_code(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    error, _tls = failure(tls_peer(server_context, raw=b""), ca_file)

    assert (error.phase, error.code) == ("tls", "closed_without_answer")


def test_a_cipher_that_we_do_not_know_is_its_number(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\xfe\xfe" + b"\0"
    record = b"\x02" + len(body).to_bytes(3, "big") + body
    wire = b"\x16\x03\x03" + len(record).to_bytes(2, "big") + record

    error, tls = failure(tls_peer(server_context, raw=wire), ca_file)

    assert (error.code, tls["version"], tls["cipher"]) == ("tls_failed", "TLSv1.2", "0xfefe")


def test_a_cancelled_handshake_is_closed_and_described(ca_file: str) -> None:
    class Silent:
        peer = local = ("127.0.0.1", 1)
        bytes_sent = bytes_received = received_ns = late_ns = 0
        receive_clock: Literal["user"] = "user"
        ended_by_peer = None
        closed = False

        async def send(self, data: bytes) -> None: ...

        async def receive(self) -> bytes:
            await asyncio.Event().wait()
            return b""

        def pending(self) -> bytes:
            return b""

        def close(self) -> None:
            self.closed = True

        abort = close

        def tcp_info(self) -> None:
            return None

    silent, trace = Silent(), Trace()

    async def run() -> None:
        trust = await TrustStore(ca_file).trust(TlsSettings())
        async with asyncio.timeout(0.01):
            await shake_hands(silent, parse_url("https://svc.test/"), trust, trace, Phases(CLOCK), CLOCK)

    with pytest.raises(TimeoutError):
        asyncio.run(run())

    assert trace.tls is not None
    assert (silent.closed, trace.tls["version"], trace.tls["chain"]) == (True, None, [])


def test_without_a_group_there_is_none(tls_peer: Any, server_context: ssl.SSLContext, ca_file: str) -> None:
    suite = "AES128-GCM-SHA256"  # RSA moves the key; offered by nobody any more, so by this client alone
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(suite)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    signer = trustme.CA(key_type=trustme.KeyType.RSA)
    signer.issue_cert("svc.test", key_type=trustme.KeyType.RSA).configure_cert(context)
    trace = Trace()

    async def run() -> None:
        built = await TrustStore(ca_file).trust(TlsSettings(verify="observe"))
        built.context.set_ciphers(suite)
        await shake_hands(
            tls_peer(context), parse_url("https://svc.test/"), built, trace, Phases(CLOCK), CLOCK
        )

    asyncio.run(run())

    assert trace.tls is not None
    assert (trace.tls["version"], trace.tls["cipher"], trace.tls["group"]) == ("TLSv1.2", suite, None)
    assert (trace.tls["client_cert_requested"], trace.tls["verify"]["code"]) == (False, 20)


def test_an_alert_that_came_before_the_reset_is_the_failure_of_the_handshake(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context, raw=b"\x15\x03\x03\x00\x02\x02\x46")
    say = peer.send

    async def say_and_fail(data: bytes) -> None:
        await say(data)
        raise ProbeFailed("tls", "reset", "connection reset by peer")

    peer.send = say_and_fail
    error, tls = failure(peer, ca_file)

    assert (error.code, error.facts) == ("tls_failed", {"alert": "protocol_version"})
    assert tls["alert"] == {"level": "fatal", "code": 70, "name": "protocol_version"}


def test_a_reset_without_an_alert_stays_a_reset(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context)

    async def fail(_data: bytes) -> None:
        raise ProbeFailed("tls", "reset", "connection reset by peer")

    peer.send = fail
    error, tls = failure(peer, ca_file)

    assert (error.code, tls["alert"]) == ("reset", None)


def test_an_alert_that_came_before_the_reset_is_the_failure_of_sending(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str, authority: trustme.CA
) -> None:
    server_context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(server_context)
    peer, trace = tls_peer(server_context), Trace()

    async def fail(_data: bytes) -> None:
        raise ProbeFailed("send", "reset", "connection reset by peer")

    async def work(stream: TlsStream, phases: Phases) -> tuple[str, str]:
        phases.begin("send")
        peer.send = fail
        with pytest.raises(ProbeFailed) as caught:
            await stream.send(b"x")
        return caught.value.phase, caught.value.code

    assert handshake(peer, ca_file, work, trace=trace) == ("send", "tls_failed")
    assert trace.tls is not None
    assert trace.tls["alert"] == {"code": 116, "name": "certificate_required"}


@pytest.mark.parametrize("ends", ["notify", "cut"])
def test_the_stream_carries_bytes_both_ways_until_either_kind_of_end(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str, ends: str
) -> None:
    peer = tls_peer(server_context, says=b"y" * 100_000, ends=ends)

    async def work(stream: TlsStream, phases: Phases) -> tuple[bytes, int, int]:
        await stream.send(b"x" * 50_000)
        return await everything(stream, phases), stream.bytes_sent, stream.bytes_received

    received, sent, got = handshake(peer, ca_file, work)

    assert (received, peer.heard) == (b"y" * 100_000, b"x" * 50_000)
    assert (sent, got) == (peer.bytes_sent, peer.bytes_received)
    assert sent > 50_000
    assert got > 100_000


def test_the_stamp_is_that_of_the_read_that_yielded_the_bytes(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context, says=b"y")

    async def work(stream: TlsStream, _phases: Phases) -> tuple[int, int]:
        await stream.receive()
        return stream.received_ns, peer.received_ns

    stamp, read = handshake(peer, ca_file, work)

    assert stamp == read


def test_others_get_their_turn_while_a_record_comes_in_pieces(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context, says=b"y" * 1000)

    async def by_byte() -> bytes:
        return bytes(peer._outgoing.read(1))

    async def work(stream: TlsStream, _phases: Phases) -> tuple[bytes, bool]:
        peer.receive = by_byte
        receiving, turns = asyncio.ensure_future(stream.receive()), 0
        while not receiving.done():
            await asyncio.sleep(0)
            turns += 1
        return await receiving, turns >= 1000

    assert handshake(peer, ca_file, work) == (b"y" * 1000, True)


def test_pending_gives_what_has_been_decrypted_and_leaves_the_end(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    async def work(stream: TlsStream, _phases: Phases) -> tuple[bytes, bytes, bytes]:
        return stream.pending(), stream.pending(), await stream.receive()

    peer = tls_peer(server_context, says=b"y" * 40_000)

    assert handshake(peer, ca_file, work) == (b"y" * 40_000, b"", b"")


def test_a_broken_record_is_a_failure_of_the_phase_and_pending_leaves_it_to_receive(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context, says=b"y", ends="cut")

    async def work(stream: TlsStream, phases: Phases) -> tuple[bytes, str, str]:
        await stream.receive()
        phases.begin("body")
        peer._outgoing.write(b"\x17\x03\x03\x00\x05abcde")
        held = stream.pending() + stream.pending()
        with pytest.raises(ProbeFailed) as caught:
            await stream.receive()
        stream.close()
        return held, caught.value.phase, caught.value.code

    assert handshake(peer, ca_file, work) == (b"", "body", "tls_failed")
    assert peer.closed


def test_sending_after_a_broken_connection_is_a_failure_of_sending(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str
) -> None:
    peer = tls_peer(server_context, ends="cut")

    async def work(stream: TlsStream, phases: Phases) -> tuple[str, str]:
        peer._outgoing.write(b"\x17\x03\x03\x00\x05abcde")
        stream.pending()
        phases.begin("send")
        with pytest.raises(ProbeFailed) as caught:
            await stream.send(b"x")
        return caught.value.phase, caught.value.code

    assert handshake(peer, ca_file, work)[0] == "send"


def test_a_client_certificate_that_is_asked_for_is_reported_when_the_server_says_so(
    tls_peer: Any, server_context: ssl.SSLContext, ca_file: str, authority: trustme.CA
) -> None:
    server_context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(server_context)

    async def work(stream: TlsStream, phases: Phases) -> tuple[str, str, str]:
        phases.begin("first_byte")
        with pytest.raises(ProbeFailed) as caught:
            await stream.receive()
        return caught.value.phase, caught.value.code, caught.value.message

    assert handshake(tls_peer(server_context), ca_file, work) == (
        "first_byte",
        "tls_failed",
        "TLS: tlsv13 alert certificate required",
    )


def test_an_error_of_openssl_without_a_reason_is_still_an_error_of_ours() -> None:
    errors = [tls_fault("tls", ssl.SSLError()), tls_fault("body", ssl.SSLEOFError())]

    assert [(error.code, error.message) for error in errors] == [
        ("tls_failed", "TLS: unknown error"),
        ("truncated", "the connection was closed without the end that TLS asks for"),
    ]
