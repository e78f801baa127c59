"""Keys and signatures against OpenSSL's security level 2."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from app.net.certificate_strength import weakness

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
STRONG = ec.generate_private_key(ec.SECP256R1())
RSA_2048 = rsa.generate_private_key(65537, 2048)
RSA_1024 = rsa.generate_private_key(65537, 1024)  # noqa: S505  (weak keys are what this is about)
SHA256_WITH_RSA = bytes.fromhex("06092a864886f70d01010b")
EC_KEY = bytes.fromhex("06072a8648ce3d0201")


def certificate(key: Any = STRONG, signer: Any = STRONG) -> x509.Certificate:
    name = x509.Name([])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, START, START.replace(year=2027))
    return builder.sign(signer, hashes.SHA256())


def changed(original: x509.Certificate, old: bytes, last_byte: bytes) -> x509.Certificate:
    """The certificate with another algorithm, because nobody signs with SHA-1 any more."""
    der = original.public_bytes(Encoding.DER).replace(old, old[:-1] + last_byte)
    return x509.load_der_x509_certificate(der)


GOOD = certificate()
SHA1 = changed(certificate(signer=RSA_2048), SHA256_WITH_RSA, b"\x05")


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        pytest.param([GOOD, GOOD], None, id="good keys"),
        pytest.param([certificate(RSA_2048)], None, id="2048 bits"),
        pytest.param([certificate(ed25519.Ed25519PrivateKey.generate())], None, id="an Edwards curve"),
        pytest.param([certificate(RSA_1024)], (66, 0), id="a leaf of 1024 bits"),
        pytest.param([certificate(ec.generate_private_key(ec.SECP192R1()))], (66, 0), id="a curve of 192"),
        pytest.param([GOOD, certificate(RSA_1024)], (67, 1), id="an authority of 1024 bits"),
        pytest.param([GOOD, SHA1, GOOD], (68, 1), id="a signature over SHA-1"),
        pytest.param([GOOD, SHA1], None, id="the signature of the last does not count"),
        pytest.param(
            [changed(certificate(signer=RSA_2048), SHA256_WITH_RSA, b"\x7f"), GOOD],
            None,
            id="a signature nobody knows",
        ),
        pytest.param([changed(GOOD, EC_KEY, b"\x7f")], None, id="a key nobody knows"),
    ],
)
def test_the_first_that_is_too_weak_is_named(
    chain: list[x509.Certificate], found: tuple[int, int] | None
) -> None:
    assert weakness(chain) == found
