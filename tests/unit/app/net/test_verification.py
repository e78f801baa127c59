"""OpenSSL's verdict after the handshake, and what comes before what in it."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from app.net.verification import Verdict, Verifier

PAST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def verifier(authority: trustme.CA, tmp_path: Path) -> Verifier:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return Verifier(str(tmp_path / "ca.pem"), None)


def chain(certificate: trustme.LeafCert) -> list[bytes]:
    return [ssl.PEM_cert_to_DER_cert(each.bytes().decode()) for each in certificate.cert_chain_pems]


def test_a_good_chain_is_verified_up_to_its_root(authority: trustme.CA, verifier: Verifier) -> None:
    sent = chain(authority.issue_cert("svc.test"))
    root = ssl.PEM_cert_to_DER_cert(authority.cert_pem.bytes().decode())

    assert verifier.verdict(sent, "svc.test") == Verdict(0, "ok", None, (*sent, root))


def test_an_expired_leaf_has_the_number_and_the_depth_of_openssl(
    authority: trustme.CA, verifier: Verifier
) -> None:
    sent = chain(authority.issue_cert("svc.test", not_before=PAST, not_after=PAST + timedelta(days=1)))

    verdict = verifier.verdict(sent, "svc.test")

    assert (verdict.code, verdict.depth, verdict.chain) == (10, 0, ())


def test_a_chain_of_another_authority_is_not_trusted(verifier: Verifier) -> None:
    assert verifier.verdict(chain(trustme.CA().issue_cert("svc.test")), "svc.test").code == 20


def test_without_a_store_nothing_is_trusted(authority: trustme.CA) -> None:
    assert Verifier(None, None).verdict(chain(authority.issue_cert("svc.test")), "svc.test").code == 20


def test_a_wrong_name_is_said_after_the_chain_is_good(authority: trustme.CA, verifier: Verifier) -> None:
    sent = chain(authority.issue_cert("svc.test"))

    verdicts = [verifier.verdict(sent, host) for host in ("other.test", "127.0.0.1")]

    assert [(each.code, each.text) for each in verdicts] == [
        (62, "hostname mismatch"),
        (64, "IP address mismatch"),
    ]


def test_what_nobody_can_read_has_no_number(verifier: Verifier) -> None:
    assert verifier.verdict([b"no certificate"], "svc.test").code is None


def signed(
    authority: trustme.CA,
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey,
    *purposes: x509.ObjectIdentifier,
) -> bytes:
    root = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
    private = load_pem_private_key(authority.private_key_pem.bytes(), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(root.subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(PAST)
        .not_valid_after(PAST + timedelta(days=1))
    )
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    return builder.sign(private, hashes.SHA256()).public_bytes(Encoding.DER)


def test_a_certificate_for_clients_is_unsuitable_before_its_dates_are_looked_at(
    authority: trustme.CA, verifier: Verifier
) -> None:
    sent = signed(authority, ec.generate_private_key(ec.SECP256R1()), ExtendedKeyUsageOID.CLIENT_AUTH)

    verdict = verifier.verdict([sent], "svc.test")

    assert (verdict.code, verdict.depth) == (26, 0)


def test_a_weak_key_comes_before_the_name_and_the_dates(authority: trustme.CA, verifier: Verifier) -> None:
    weak = rsa.generate_private_key(65537, 1024)  # noqa: S505  (a weak key is what the case is about)

    assert verifier.verdict([signed(authority, weak)], "svc.test") == Verdict(
        66, "EE certificate key too weak", 0
    )


def test_a_wrong_name_comes_before_the_dates(authority: trustme.CA, verifier: Verifier) -> None:
    sent = chain(authority.issue_cert("other.test", not_before=PAST, not_after=PAST + timedelta(days=1)))

    assert verifier.verdict(sent, "svc.test") == Verdict(62, "hostname mismatch", 0)
