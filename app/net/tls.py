"""TLS over a channel, in memory: the handshake, and its facts also when it fails."""

from __future__ import annotations

import ssl
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

from app.clock import Clock
from app.errors import ProbeFailed
from app.net.network import Channel
from app.net.phases import Phases
from app.net.server_hello import ENOUGH_BYTES, ServerHello, clear_alert, parse_server_hello
from app.net.stream import Trace
from app.net.tls_faults import ALERTS, alert_of, tls_fault
from app.net.tls_stream import TlsStream
from app.net.trust import Trust
from policy import Target

_DER: Final = 2  # _ssl.ENCODING_DER, before Python 3.13
_TLS_1_3: Final = "TLSv1.3"
_ENCRYPTED: Final = 23
_LEVELS: Final = {1: "warning", 2: "fatal"}
_RECORD_HEAD: Final = 5
_SEALED: Final = 17
"""Bytes that TLS 1.3 adds to a message: its inner type, and the tag of every suite that OpenSSL has on by default."""


async def shake_hands(
    channel: Channel, target: Target, trust: Trust, trace: Trace, phases: Phases, clock: Clock
) -> TlsStream:
    """The TLS stream to a target; a failure closes the channel, and `trace.tls` has what was seen until then."""
    handshake = _Handshake(channel, target, trust, clock, phases)
    try:
        stream = await handshake.run()
    except BaseException as error:
        trace.describe_tls_later(handshake.describe(error, None))
        trace.spent = channel.bytes_sent, channel.bytes_received
        channel.close()
        raise
    trace.describe_tls_later(handshake.describe(None, stream))
    return stream


class _Handshake:
    """One handshake; the certificates stay bytes until somebody reads the facts."""

    def __init__(self, channel: Channel, target: Target, trust: Trust, clock: Clock, phases: Phases) -> None:
        self._channel = channel
        self._trust = trust
        self._clock = clock
        self._phases = phases
        self._host = target.host
        self._sni = None if target.address is not None else target.host
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        # OpenSSL sends no SNI for an address and compares it with the addresses of the certificate.
        self._tls = trust.context.wrap_bio(self._incoming, self._outgoing, server_hostname=target.host)
        self._heard = bytearray()
        self._last_flight = b""
        self._began_ns = 0

    async def run(self) -> TlsStream:
        self._began_ns = self._clock.monotonic_ns()
        self._phases.begin("tls", self._began_ns)
        while not await self._step():
            data = await self._channel.receive()
            if not data:
                message = "the connection was closed during the TLS handshake"
                raise ProbeFailed("tls", "closed_without_answer", message)
            self._hear(data)
        return TlsStream(self._channel, self._tls, self._incoming, self._outgoing, self._phases)

    def _hear(self, data: bytes) -> None:
        self._heard += data[: ENOUGH_BYTES - len(self._heard)]
        self._incoming.write(data)

    async def _send(self, flight: bytes) -> None:
        """Send a flight; an alert of the server that waits to be read says more than the reset that follows it."""
        try:
            await self._channel.send(flight)
        except ProbeFailed:
            self._hear(self._channel.pending())
            try:
                self._tls.read(1)
            except ssl.SSLError as error:
                if alert_of(error) is not None:
                    raise tls_fault("tls", error) from error
            raise

    async def _step(self) -> bool:
        """Let OpenSSL go as far as it can, and send what it wrote; true when the handshake is done."""
        done = False
        try:
            self._tls.do_handshake()
            done = True
        except ssl.SSLWantReadError:
            pass  # the answer of the server comes first
        except ssl.SSLError as error:
            with suppress(ProbeFailed):  # our alert is a courtesy: what failed is the handshake
                await self._channel.send(self._outgoing.read())
            raise tls_fault("tls", error) from error
        self._last_flight = self._outgoing.read()
        await self._send(self._last_flight)
        return done

    def describe(self, failure: BaseException | None, stream: TlsStream | None) -> partial[dict[str, Any]]:
        """Gather what a failed handshake loses when it is closed; parsing waits until it is called."""
        cause = None if failure is None else failure.__cause__
        hello = parse_server_hello(bytes(self._heard))
        cipher = self._tls.cipher()
        suite = cipher[0] if cipher else self._suite_name(hello.suite if hello else None)
        facts = {
            "version": self._tls.version() or (hello.version if hello else None),
            "cipher": suite,
            "group": hello.group if hello else None,
            "alpn": self._tls.selected_alpn_protocol(),
            "sni": self._sni,
            "handshake_ms": round((self._clock.monotonic_ns() - self._began_ns) / 1_000_000, 3),
            "client_cert_requested": self._wants_certificate(hello, suite, is_done=failure is None),
            "alert": self._clear_alert() or alert_of(cause),
            "ocsp_stapled": None,  # Python's ssl cannot ask a server for it
        }
        self._heard.clear()
        chain, verified = self._chain("unverified"), self._chain("verified") if failure is None else []
        return partial(
            _described,
            facts,
            chain,
            verified,
            self._verify(failure, cause),
            self._trust,
            stream,
            self._clock.wall_ns(),
        )

    def _verify(self, failure: BaseException | None, cause: BaseException | None) -> dict[str, Any]:
        """What the handshake itself said of the certificate; with `observe` it says nothing."""
        verify: dict[str, Any] = {"mode": self._trust.mode, "store": self._trust.store}
        verify |= {"code": None, "text": None, "depth": None}
        if isinstance(cause, ssl.SSLCertVerificationError):
            verify |= {"code": cause.verify_code, "text": cause.verify_message}
        elif failure is None and self._trust.mode == "strict":
            verify |= {"code": 0, "text": "ok"}
        verify["host_checked"] = self._host
        return verify

    def _clear_alert(self) -> dict[str, Any] | None:
        """The alert as it was on the wire, which has its level; OpenSSL's errors have the name alone."""
        alert = clear_alert(bytes(self._heard))
        if alert is None:
            return None
        level, number = alert
        level_name = _LEVELS.get(level, str(level))
        return {"level": level_name, "code": number, "name": ALERTS.get(number, "unknown")}

    def _wants_certificate(
        self, hello: ServerHello | None, suite: str | None, *, is_done: bool
    ) -> bool | None:
        """Whether the server asked for a certificate of ours; None where it could not be told.

        TLS 1.3 encrypts the question but not the size of the answer: whoever was asked sends a certificate, an empty
        one here, before Finished, and Finished alone has the size that the hash of the suite gives it.
        """
        if hello is None or hello.version != _TLS_1_3:
            return hello.wants_certificate if hello else None
        if not is_done or suite is None:
            return None
        finished = 4 + (48 if suite.endswith("SHA384") else 32)
        return _sealed_bytes(self._last_flight) != finished

    def _chain(self, which: Literal["verified", "unverified"]) -> list[bytes]:
        """Certificates (DER), leaf first: as the server sent them, or as OpenSSL put them together."""
        name = f"get_{which}_chain"
        tls: Any = self._tls
        # Before Python 3.13 the chain has no public name and holds objects.
        get = getattr(tls, name, None) or getattr(tls._sslobj, name)
        return [one if isinstance(one, bytes) else one.public_bytes(_DER) for one in get() or ()]

    def _suite_name(self, suite: int | None) -> str | None:
        if suite is None:
            return None
        ciphers = self._trust.context.get_ciphers()
        # OpenSSL's numbers carry a prefix byte in front of the two that are on the wire.
        return next(
            (cipher["name"] for cipher in ciphers if cipher["id"] & 0xFFFF == suite), f"0x{suite:04x}"
        )


def _sealed_bytes(flight: bytes) -> int:
    """Bytes of the messages inside the encrypted records of a flight."""
    total = at = 0
    while at + _RECORD_HEAD <= len(flight):
        size = int.from_bytes(flight[at + 3 : at + _RECORD_HEAD], "big")
        total += size - _SEALED if flight[at] == _ENCRYPTED else 0
        at += _RECORD_HEAD + size
    return total


def _described(
    facts: dict[str, Any],
    chain: list[bytes],
    verified: list[bytes],
    verify: dict[str, Any],
    trust: Trust,
    stream: TlsStream | None,
    wall_ns: int,
) -> dict[str, Any]:
    """The facts in full; cryptography and pyOpenSSL are loaded here, a quarter of a second after the last stamp."""
    from app.net.certificate import brief_facts, facts_of

    if chain and (trust.mode == "observe" or verify["code"]):
        verdict = trust.later.verdict(chain, verify["host_checked"])
        if trust.mode == "observe":
            verified = list(verdict.chain)
            verify |= {"code": verdict.code, "text": verdict.text, "depth": verdict.depth}
        elif verdict.code == verify["code"]:
            verify |= {"depth": verdict.depth}
    if stream is not None and stream.alert is not None:
        facts["alert"] = stream.alert
    return {
        **facts,
        "chain": [facts_of(der, wall_ns) for der in chain],
        "verified_chain": [brief_facts(der) for der in verified],
        "verify": verify,
    }
