"""The stream behind a handshake: TLS over a channel, in memory."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Literal

from app.errors import ProbeFailed
from app.net.network import Channel
from app.net.phases import Phases
from app.net.tls_faults import alert_of, tls_fault


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
        self._is_notified = False
        self.received_ns = 0
        self.alert: dict[str, Any] | None = None
        """The alert with which the server ended it after the handshake, such as that it misses a certificate."""

    @property
    def bytes_sent(self) -> int:
        """See `Stream`."""
        return self._channel.bytes_sent

    @property
    def bytes_received(self) -> int:
        """See `Stream`."""
        return self._channel.bytes_received

    @property
    def receive_clock(self) -> Literal["kernel", "user"]:
        """See `Stream`."""
        return self._channel.receive_clock

    @property
    def late_ns(self) -> int:
        """See `Stream`."""
        return self._channel.late_ns

    @property
    def ended_by_peer(self) -> Literal["fin", "reset", "close_notify"] | None:
        """See `Stream`."""
        return "close_notify" if self._is_notified else self._channel.ended_by_peer

    def tcp_info(self) -> dict[str, int] | None:
        """See `Stream`."""
        return self._channel.tcp_info()

    async def send(self, data: bytes) -> None:
        """See `Stream`; an alert of the server that waits to be read says more than the reset that follows it."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._encrypt(rest) :]
                await self._channel.send(self._outgoing.read())
        except ProbeFailed:
            self.pending()
            if self.alert is not None and self._fault is not None:
                raise self._fault from None
            raise

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
            self.received_ns = self._channel.received_ns
            return b""
        except ssl.SSLError as error:
            self.alert = alert_of(error)
            raise tls_fault(self._phases.current or "body", error) from error
        self._is_notified = not data
        self.received_ns = self._channel.received_ns
        return data
