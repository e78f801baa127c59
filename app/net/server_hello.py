"""Version and cipher suite from a ServerHello: OpenSSL forgets them when a handshake fails, the bytes do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERSIONS: Mapping[int, str] = {
    0x0300: "SSLv3",
    0x0301: "TLSv1",
    0x0302: "TLSv1.1",
    0x0303: "TLSv1.2",
    0x0304: "TLSv1.3",
}
ENOUGH_BYTES = 4096
"""A ServerHello that has not shown its version by then is none."""

_HANDSHAKE_RECORD = 22
_SERVER_HELLO = 2
_SUPPORTED_VERSIONS = 43


@dataclass(frozen=True, slots=True)
class ServerHello:
    """The negotiated version by name and the number of the cipher suite."""

    version: str
    suite: int


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
    """What the first record of a server says (RFC 8446, 4.1.3); None when it is no whole ServerHello."""
    try:
        return _server_hello(_Reader(received))
    except _Cut:
        return None


def _server_hello(record: _Reader) -> ServerHello | None:
    if record.number(1) != _HANDSHAKE_RECORD:
        return None
    record.take(2)  # the version of the record layer, which says nothing
    message = _Reader(record.take(record.number(2)))
    if message.number(1) != _SERVER_HELLO:
        return None
    hello = _Reader(message.take(message.number(3)))
    version = hello.number(2)
    hello.take(32)  # the random
    hello.take(hello.number(1))  # the session id
    suite = hello.number(2)
    hello.take(1)  # the compression method
    if hello.rest():
        version = _supported_version(_Reader(hello.take(hello.number(2)))) or version
    return ServerHello(VERSIONS.get(version, f"0x{version:04x}"), suite)


def _supported_version(extensions: _Reader) -> int | None:
    while extensions.rest():
        kind = extensions.number(2)
        body = extensions.take(extensions.number(2))
        if kind == _SUPPORTED_VERSIONS:
            return int.from_bytes(body, "big")
    return None
