"""TLS over a channel, in memory: the handshake, its facts also when it fails, and the stream behind it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from app.clock import Clock
from app.errors import Phase, ProbeErrorCode, ProbeFailed
from app.net.network import Channel
from app.net.phases import Phases
from app.net.server_hello import ENOUGH_BYTES, parse_server_hello
from app.net.stream import Trace
from app.net.trust import Trust
from policy import Target

VERIFY_CODES: Final[Mapping[int, ProbeErrorCode]] = {
    # The numbers are those of OpenSSL's x509_vfy.h (X509_V_ERR_…).
    2: "certificate_unknown_issuer",  # unable to get issuer certificate
    9: "certificate_not_yet_valid",
    10: "certificate_expired",
    18: "certificate_self_signed",
    19: "certificate_unknown_issuer",  # a self-signed certificate further up the chain
    20: "certificate_unknown_issuer",  # unable to get local issuer certificate
    21: "certificate_unknown_issuer",  # unable to verify the first certificate
    62: "certificate_wrong_name",
    64: "certificate_wrong_name",  # the IP address
}
"""Every other number is `certificate_invalid`."""

_DER: Final = 2  # _ssl.ENCODING_DER, before Python 3.13


async def shake_hands(
    channel: Channel, target: Target, trust: Trust, trace: Trace, phases: Phases, clock: Clock
) -> TlsStream:
    """The TLS stream to a target; a failure closes the channel, and `trace.tls` has what was seen until then."""
    handshake = _Handshake(channel, target, trust, clock, phases)
    try:
        stream = await handshake.run()
    except BaseException as error:
        trace.describe_tls_later(handshake.describe(error))
        channel.close()
        raise
    trace.describe_tls_later(handshake.describe(None))
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
        self._heard = b""
        self._began_ns = 0

    async def run(self) -> TlsStream:
        self._began_ns = self._clock.monotonic_ns()
        self._phases.begin("tls", self._began_ns)
        while not await self._step():
            data = await self._channel.receive()
            if not data:
                message = "the connection was closed during the TLS handshake"
                raise ProbeFailed("tls", "closed_without_answer", message)
            self._heard = (self._heard + data)[:ENOUGH_BYTES]
            self._incoming.write(data)
        return TlsStream(self._channel, self._tls, self._incoming, self._outgoing, self._phases)

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
        await self._channel.send(self._outgoing.read())
        return done

    def describe(self, failure: BaseException | None) -> partial[dict[str, Any]]:
        """Gather what a failed handshake loses when it is closed; parsing waits until it is called."""
        cause = None if failure is None else failure.__cause__
        hello = parse_server_hello(self._heard)
        cipher = self._tls.cipher()
        certificate_failed = isinstance(cause, ssl.SSLCertVerificationError)
        facts = {
            "version": self._tls.version() or (hello.version if hello else None),
            "cipher": cipher[0] if cipher else self._suite_name(hello.suite if hello else None),
            "alpn": self._tls.selected_alpn_protocol(),
            "sni": self._sni,
            "handshake_ms": round((self._clock.monotonic_ns() - self._began_ns) / 1_000_000, 3),
        }
        verify: dict[str, Any] = {"mode": "strict", "store": self._trust.store, "code": None, "text": None}
        if certificate_failed:
            verify |= {"code": cause.verify_code, "text": cause.verify_message}  # type: ignore[union-attr]
        elif failure is None:
            verify |= {"code": 0, "text": "ok"}
        verify["host_checked"] = self._host
        return partial(_described, facts, self._chain(), verify, self._clock.wall_ns())

    def _chain(self) -> list[bytes]:
        """The certificates as the server sent them (DER), leaf first; none when it sent none."""
        tls: Any = self._tls
        # Before Python 3.13 the chain has no public name and holds objects.
        get = getattr(tls, "get_unverified_chain", None) or tls._sslobj.get_unverified_chain
        return [one if isinstance(one, bytes) else one.public_bytes(_DER) for one in get() or ()]

    def _suite_name(self, suite: int | None) -> str | None:
        if suite is None:
            return None
        ciphers = self._trust.context.get_ciphers()
        # OpenSSL's numbers carry a prefix byte in front of the two that are on the wire.
        return next(
            (cipher["name"] for cipher in ciphers if cipher["id"] & 0xFFFF == suite), f"0x{suite:04x}"
        )


def _described(
    facts: dict[str, Any], chain: list[bytes], verify: dict[str, Any], wall_ns: int
) -> dict[str, Any]:
    from app.net.certificate import facts as certificate_facts  # cryptography: a quarter of a second

    return {**facts, "chain": [certificate_facts(der, wall_ns) for der in chain[:1]], "verify": verify}


def tls_fault(phase: Phase, error: ssl.SSLError) -> ProbeFailed:
    """The error of ours for one of OpenSSL: the one place where they are mapped."""
    if isinstance(error, ssl.SSLCertVerificationError):
        code = VERIFY_CODES.get(error.verify_code, "certificate_invalid")
        return ProbeFailed(phase, code, error.verify_message)
    if isinstance(error, ssl.SSLEOFError):
        return ProbeFailed(phase, "truncated", "the connection was closed without the end that TLS asks for")
    reason = (getattr(error, "reason", None) or "unknown error").replace("_", " ").lower()
    return ProbeFailed(phase, "tls_failed", f"TLS: {reason}")


class TlsStream:
    """`Stream` over TLS; `received_ns` is the stamp of the read that yielded the bytes."""

    def __init__(
        self,
        channel: Channel,
        tls: ssl.SSLObject,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        phases: Phases,
    ) -> None:
        self._channel = channel
        self._tls = tls
        self._incoming = incoming
        self._outgoing = outgoing
        self._phases = phases
        self._fault: ProbeFailed | None = None
        self.received_ns = 0

    @property
    def bytes_sent(self) -> int:
        """See `Stream`."""
        return self._channel.bytes_sent

    @property
    def bytes_received(self) -> int:
        """See `Stream`."""
        return self._channel.bytes_received

    async def send(self, data: bytes) -> None:
        """See `Stream`."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._encrypt(rest) :]
            await self._channel.send(self._outgoing.read())

    async def receive(self) -> bytes:
        """See `Stream`; an end without close_notify is an end, because much of the Web ends so."""
        while True:
            data = self._decrypt()
            if data is not None:
                return data
            await self._channel.send(self._outgoing.read())  # answers of TLS itself, such as a key update
            self._feed(await self._channel.receive())
            await asyncio.sleep(0)  # records without data could come for ever, faster than they are read

    def pending(self) -> bytes:
        """See `Stream`; what ends the stream is told by the next `receive`."""
        arrived = self._channel.pending()
        if arrived:
            self._feed(arrived)
        pieces = []
        # Bounded: nothing arrives while this runs, and OpenSSL yields fewer bytes than it is fed.
        while self._fault is None:
            try:
                data = self._decrypt()
            except ProbeFailed as error:
                self._fault = error
                break
            if not data:
                break
            pieces.append(data)
        return b"".join(pieces)

    def close(self) -> None:
        """See `Stream`."""
        self._channel.close()

    def _feed(self, data: bytes) -> None:
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _encrypt(self, data: memoryview) -> int:
        try:
            return self._tls.write(data)
        except ssl.SSLError as error:
            raise tls_fault(self._phases.current or "send", error) from error

    def _decrypt(self) -> bytes | None:
        """The next bytes of the application, `b""` at the end, None when more has to arrive first."""
        if self._fault is not None:
            raise self._fault
        try:
            data = self._tls.read(65536)
        except ssl.SSLWantReadError:
            return None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""
        except ssl.SSLError as error:
            raise tls_fault(self._phases.current or "body", error) from error
        self.received_ns = self._channel.received_ns
        return data
