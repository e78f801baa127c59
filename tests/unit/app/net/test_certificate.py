"""The facts of a certificate."""

from __future__ import annotations

import datetime
import hashlib
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

from app.net.certificate import brief_facts
from app.net.certificate import facts_of as facts

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
AT_NOON = round(START.timestamp() + 43_200) * 1_000_000_000
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def der(*extensions: x509.ExtensionType, issuer: str = "Some CA", subject_key: Any = None) -> bytes:
    builder = (
        x509.CertificateBuilder()
        .subject_name(name("svc.test"))
        .issuer_name(name(issuer))
        .public_key((subject_key or EC_KEY).public_key())
        .serial_number(0xABC)
        .not_valid_before(START)
        .not_valid_after(END)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(EC_KEY, hashes.SHA256()).public_bytes(Encoding.DER)


def test_a_plain_certificate_is_described_and_what_it_lacks_is_null() -> None:
    wire = der()

    told = facts(wire, AT_NOON)

    assert len(told.pop("spki_sha256")) == 64
    assert told == {
        "subject": "CN=svc.test",
        "issuer": "CN=Some CA",
        "serial": "abc",
        "not_before": "2026-01-01T00:00:00.000000Z",
        "not_after": "2026-01-02T00:00:00.000000Z",
        "seconds_to_not_after": 43_200,
        "san": None,
        "key": {"type": "EC", "bits": 256, "curve": "secp256r1"},
        "signature_algorithm": "ecdsa-with-SHA256",
        "sha256": hashlib.sha256(wire).hexdigest(),
        "key_usage": None,
        "eku": None,
        "ocsp_urls": None,
        "ca_issuers": None,
        "crl_dps": None,
        "scts": None,
        "must_staple": False,
        "self_issued": False,
        "unreadable": [],
    }


def test_the_extensions_are_read() -> None:
    url = x509.UniformResourceIdentifier
    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=True, data_encipherment=False,
        key_agreement=False, key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    wire = der(
        x509.SubjectAlternativeName([
            x509.DNSName("svc.test"), x509.IPAddress(ip_address("127.0.0.1")), url("spiffe://svc"),
            x509.RFC822Name("a@svc.test"),
        ]),
        usage,
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, x509.ObjectIdentifier("1.2.3.4")]),
        x509.AuthorityInformationAccess([
            x509.AccessDescription(AuthorityInformationAccessOID.OCSP, url("http://ocsp.test/")),
            x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, url("http://ca.test/")),
        ]),
        x509.CRLDistributionPoints([
            x509.DistributionPoint([url("http://crl.test/")], None, None, None),
            x509.DistributionPoint(None, None, None, [x509.DirectoryName(name("other"))]),
        ]),
        x509.TLSFeature([x509.TLSFeatureType.status_request]),
    )  # fmt: skip

    told = facts(wire, AT_NOON)

    assert told["san"] == {
        "dns": ["svc.test"],
        "ip": ["127.0.0.1"],
        "uri": ["spiffe://svc"],
        "email": ["a@svc.test"],
    }
    assert (told["key_usage"], told["eku"]) == (
        ["digital_signature", "key_encipherment"],
        ["server_auth", "1.2.3.4"],
    )
    assert (told["ocsp_urls"], told["ca_issuers"]) == (["http://ocsp.test/"], ["http://ca.test/"])
    assert (told["crl_dps"], told["must_staple"]) == (["http://crl.test/"], True)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (rsa.generate_private_key(65537, 2048), {"type": "RSA", "bits": 2048, "curve": None}),
        (dsa.generate_private_key(2048), {"type": "DSA", "bits": 2048, "curve": None}),
        (ed25519.Ed25519PrivateKey.generate(), {"type": "Ed25519", "bits": 256, "curve": None}),
        (ed448.Ed448PrivateKey.generate(), {"type": "Ed448", "bits": 456, "curve": None}),
        (x25519.X25519PrivateKey.generate(), {"type": "1.3.101.110", "bits": None, "curve": None}),
    ],
)
def test_keys_of_every_type_are_named(key: Any, expected: dict[str, Any]) -> None:
    assert facts(der(subject_key=key), AT_NOON)["key"] == expected


def test_an_expired_certificate_counts_backwards() -> None:
    after = round(END.timestamp() + 60) * 1_000_000_000

    assert facts(der(), after)["seconds_to_not_after"] == -60


def test_a_self_issued_certificate_says_so() -> None:
    assert facts(der(issuer="svc.test"), AT_NOON)["self_issued"] is True


def test_bytes_that_are_no_certificate_keep_their_hash() -> None:
    told = facts(b"nonsense", AT_NOON)

    assert len(told.pop("error")) > 0
    assert told == {"sha256": hashlib.sha256(b"nonsense").hexdigest(), "unreadable": ["certificate"]}


def test_a_part_that_cannot_be_read_is_null_and_named() -> None:
    wire = der(x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), b"\x30\x03\x82\x05a"))

    told = facts(wire, AT_NOON)

    assert told["san"] is None
    assert (told["subject"], told["not_after"]) == ("CN=svc.test", "2026-01-02T00:00:00.000000Z")
    assert "san" in told["unreadable"]


def test_a_signature_algorithm_without_a_name_is_its_number() -> None:
    wire = der().replace(bytes.fromhex("06082a8648ce3d040302"), bytes.fromhex("06082a8648ce3d04037f"))

    assert facts(wire, AT_NOON)["signature_algorithm"] == "1.2.840.10045.4.3.127"


def test_a_key_that_nobody_knows_is_named_as_unreadable() -> None:
    wire = der().replace(bytes.fromhex("06082a8648ce3d030107"), bytes.fromhex("06082a8648ce3d03017f"))

    told = facts(wire, AT_NOON)

    assert (told["key"], told["spki_sha256"]) == (None, None)
    assert {"key", "spki_sha256"} <= set(told["unreadable"])


def test_a_certificate_of_the_verified_chain_is_its_name_and_its_digest() -> None:
    wire = der()

    assert brief_facts(wire) == {"subject": "CN=svc.test", "sha256": hashlib.sha256(wire).hexdigest()}
    assert brief_facts(b"?") == {"subject": None, "sha256": hashlib.sha256(b"?").hexdigest()}
