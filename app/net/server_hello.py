"""What a server says of the handshake in clear: version, suite, group, and whether it wants a certificate of ours.

OpenSSL forgets it when a handshake fails, and Python shows only a part of it; the bytes have it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

VERSIONS: Mapping[int, str] = {
    0x0300: "SSLv3",
    0x0301: "TLSv1",
    0x0302: "TLSv1.1",
    0x0303: "TLSv1.2",
    0x0304: "TLSv1.3",
}
GROUPS: Mapping[int, str] = {
    23: "secp256r1",
    24: "secp384r1",
    25: "secp521r1",
    29: "x25519",
    30: "x448",
    256: "ffdhe2048",
    257: "ffdhe3072",
    258: "ffdhe4096",
    259: "ffdhe6144",
    260: "ffdhe8192",
    4587: "SecP256r1MLKEM768",
    4588: "X25519MLKEM768",
    4589: "SecP384r1MLKEM1024",
}
"""IANA's registry of TLS supported groups."""
ENOUGH_BYTES = 32_768
"""The part of a server's flight that is looked at; only a chain of certificates is as long."""

_ALERT, _HANDSHAKE = 21, 22
_SERVER_HELLO, _SERVER_KEY_EXCHANGE, _CERTIFICATE_REQUEST = 2, 12, 13
_SUPPORTED_VERSIONS, _KEY_SHARE = 43, 51
_NAMED_CURVE = 3
_TLS_1_3 = 0x0304


@dataclass(frozen=True, slots=True)
class ServerHello:
    """The negotiated version by name, the number of the cipher suite, the group of the key exchange.

    `wants_certificate` is None where a CertificateRequest would have been encrypted (TLS 1.3). `group` is None
    without an exchange over a group, or where it was not seen.
    """

    version: str
    suite: int
    group: str | None = None
    wants_certificate: bool | None = None


class _Cut(Exception):
    """The bytes end before the message does."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise _Cut
        piece = self._data[self._at : end]
        self._at = end
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def rest(self) -> int:
        return len(self._data) - self._at


def parse_server_hello(received: bytes) -> ServerHello | None:
    """What the flight of a server says (RFC 8446, 4.1.3; RFC 5246, 7.4); None when it has no whole ServerHello.

    After a HelloRetryRequest, which looks like one, the last counts.
    """
    hello: ServerHello | None = None
    group, asks = None, False
    for kind, body in _messages(received):
        try:
            if kind == _SERVER_HELLO:
                hello = _server_hello(_Reader(body))
            elif kind == _SERVER_KEY_EXCHANGE:
                group = _named_curve(_Reader(body))
            elif kind == _CERTIFICATE_REQUEST:
                asks = True
        except _Cut:
            continue
    if hello is None or hello.version == VERSIONS[_TLS_1_3]:
        return hello
    return ServerHello(hello.version, hello.suite, group, asks)


def clear_alert(received: bytes) -> tuple[int, int] | None:
    """Level and description of an alert that a server sent before anything was encrypted, None without one."""
    for kind, body in _records(received):
        if kind == _ALERT and len(body) == 2:
            return body[0], body[1]
    return None


def _records(received: bytes) -> Iterator[tuple[int, bytes]]:
    reader = _Reader(received)
    try:
        while reader.rest():
            kind = reader.number(1)
            reader.take(2)  # the version of the record layer, which says nothing
            yield kind, reader.take(reader.number(2))
    except _Cut:
        return


def _messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    """The handshake messages up to the first record that is encrypted or none of the handshake."""
    flight = bytearray()
    for kind, body in _records(received):
        if kind != _HANDSHAKE:
            break
        flight += body
    reader = _Reader(bytes(flight))
    try:
        while reader.rest():
            yield reader.number(1), reader.take(reader.number(3))
    except _Cut:
        return


def _server_hello(hello: _Reader) -> ServerHello:
    version = hello.number(2)
    hello.take(32)  # the random
    hello.take(hello.number(1))  # the session id
    suite = hello.number(2)
    hello.take(1)  # the compression method
    extensions = _extensions(_Reader(hello.take(hello.number(2)))) if hello.rest() else {}
    version = int.from_bytes(extensions.get(_SUPPORTED_VERSIONS, b""), "big") or version
    share = extensions.get(_KEY_SHARE, b"")
    group = _group(int.from_bytes(share[:2], "big")) if share else None
    return ServerHello(VERSIONS.get(version, f"0x{version:04x}"), suite, group)


def _extensions(reader: _Reader) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while reader.rest():
        kind = reader.number(2)
        found[kind] = reader.take(reader.number(2))
    return found


def _named_curve(exchange: _Reader) -> str | None:
    """The curve of an ECDHE exchange (RFC 8422, 5.4); a plain Diffie-Hellman one has another shape, and no name."""
    kind, number = exchange.number(1), exchange.number(2)
    exchange.take(exchange.number(1))  # the point
    exchange.take(2)  # the algorithm of the signature
    exchange.take(exchange.number(2))
    return _group(number) if kind == _NAMED_CURVE and not exchange.rest() else None


def _group(number: int) -> str:
    return GROUPS.get(number, f"0x{number:04x}")
