"""Version and cipher suite from the bytes of a server."""

from __future__ import annotations

import ssl

import pytest

from app.net.server_hello import ServerHello, clear_alert, parse_server_hello

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
    assert parse_server_hello(wire + b"more") == ServerHello(
        version, 0xC02C, None, None if version == "TLSv1.3" else False
    )


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


def message(kind: int, body: bytes) -> bytes:
    whole = bytes([kind]) + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x03" + len(whole).to_bytes(2, "big") + whole


ECDHE = b"\x03\x00\x1d\x02pt\x04\x03\x00\x03sig"


@pytest.mark.parametrize(
    ("exchange", "group"),
    [
        pytest.param(ECDHE, "x25519", id="a curve by its name"),
        pytest.param(b"\x03\x12\x34" + ECDHE[3:], "0x1234", id="a curve nobody knows"),
        pytest.param(b"\x01" + ECDHE[1:], None, id="a curve by its parameters"),
        pytest.param(
            b"\x03\x00" + b"\xff" * 0x300 + b"\x00\x01\x02", None, id="plain Diffie-Hellman of 6144 bits"
        ),
        pytest.param(b"\x03\x00", None, id="an exchange that is too short"),
        pytest.param(ECDHE + b"x", None, id="an exchange with more behind it"),
    ],
)
def test_the_group_of_1_2_is_the_named_curve(exchange: bytes, group: str | None) -> None:
    parsed = parse_server_hello(hello() + message(12, exchange) + message(14, b""))

    assert parsed == ServerHello("TLSv1.2", 0xC02C, group, wants_certificate=False)


def test_a_request_for_a_certificate_is_seen_in_1_2() -> None:
    parsed = parse_server_hello(hello() + message(13, b"any") + message(14, b""))

    assert parsed == ServerHello("TLSv1.2", 0xC02C, None, wants_certificate=True)


@pytest.mark.parametrize(
    ("share", "group"),
    [
        pytest.param(b"\x11\xec\x00\x01k", "X25519MLKEM768", id="a share"),
        pytest.param(b"\x00\x17", "secp256r1", id="the group that a retry asks for"),
        pytest.param(b"\xfe\xfe\x00\x01k", "0xfefe", id="a group nobody knows"),
    ],
)
def test_the_group_of_1_3_is_that_of_the_share(share: bytes, group: str) -> None:
    extension = b"\x00\x33" + len(share).to_bytes(2, "big") + share

    assert parse_server_hello(hello(extensions=VERSION_13 + extension)) == ServerHello(
        "TLSv1.3", 0xC02C, group
    )


@pytest.mark.parametrize(
    ("wire", "alert"),
    [
        pytest.param(b"\x15\x03\x03\x00\x02\x02\x28", (2, 40), id="at once"),
        pytest.param(hello() + b"\x15\x03\x03\x00\x02\x01\x70", (1, 112), id="after a hello"),
        pytest.param(b"\x15\x03\x03\x00\x03abc", None, id="encrypted"),
        pytest.param(b"\x15\x03\x03\x00\x02\x02", None, id="cut"),
        pytest.param(hello(), None, id="none"),
    ],
)
def test_an_alert_in_clear_has_level_and_description(wire: bytes, alert: tuple[int, int] | None) -> None:
    assert clear_alert(wire) == alert
