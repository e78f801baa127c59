"""Version and cipher suite from the bytes of a server."""

from __future__ import annotations

import ssl

import pytest

from app.net.server_hello import ServerHello, parse_server_hello

VERSION_13 = bytes.fromhex("002b00020304")
OTHER_EXTENSION = bytes.fromhex("ff01000100")


def hello(
    version: int = 0x0303, extensions: bytes | None = b"", suite: int = 0xC02C, session: bytes = b"id"
) -> bytes:
    body = (
        version.to_bytes(2, "big")
        + bytes(32)
        + bytes([len(session)])
        + session
        + suite.to_bytes(2, "big")
        + b"\0"
    )
    if extensions is not None:
        body += len(extensions).to_bytes(2, "big") + extensions
    message = b"\x02" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x03" + len(message).to_bytes(2, "big") + message


@pytest.mark.parametrize(
    ("wire", "version"),
    [
        pytest.param(hello(), "TLSv1.2", id="1.2 without extensions"),
        pytest.param(hello(extensions=None), "TLSv1.2", id="1.2 without the list of extensions"),
        pytest.param(hello(extensions=OTHER_EXTENSION), "TLSv1.2", id="1.2 with another extension"),
        pytest.param(hello(extensions=OTHER_EXTENSION + VERSION_13), "TLSv1.3", id="1.3 by its extension"),
        pytest.param(hello(version=0x0301), "TLSv1", id="1.0"),
        pytest.param(hello(version=0x0300), "SSLv3", id="SSL 3"),
        pytest.param(hello(version=0x0999), "0x0999", id="a version nobody knows"),
    ],
)
def test_the_version_is_the_negotiated_one(wire: bytes, version: str) -> None:
    assert parse_server_hello(wire + b"more") == ServerHello(version, 0xC02C)


@pytest.mark.parametrize("size", range(len(hello(extensions=VERSION_13))))
def test_a_hello_that_was_cut_is_none(size: int) -> None:
    assert parse_server_hello(hello(extensions=VERSION_13)[:size]) is None


@pytest.mark.parametrize(
    "wire",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28", b"\x16\x03\x03\x00\x01\x0b"],
)
def test_other_records_and_other_protocols_are_none(wire: bytes) -> None:
    assert parse_server_hello(wire) is None


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_hello_of_openssl_is_read(version: ssl.TLSVersion, server_context: ssl.SSLContext) -> None:
    server_context.maximum_version = version
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    incoming, outgoing, answer = ssl.MemoryBIO(), ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(incoming, outgoing, server_hostname="svc.test")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    incoming.write(outgoing.read())
    with pytest.raises(ssl.SSLWantReadError):
        server_context.wrap_bio(incoming, answer, server_side=True).do_handshake()

    parsed = parse_server_hello(answer.read())

    assert parsed is not None
    assert parsed.version == version.name.replace("_", ".")
    assert parsed.suite in {cipher["id"] & 0xFFFF for cipher in client_context.get_ciphers()}
