"""Names of certificates by RFC 9525."""

from __future__ import annotations

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from app.net.certificate_names import wrong_name


@pytest.mark.parametrize(
    ("names", "host", "matches"),
    [
        pytest.param(["svc.test"], "svc.test", True, id="the name"),
        pytest.param(["SVC.Test"], "svc.test", True, id="in another case"),
        pytest.param(["a.test", "b.test"], "b.test", True, id="one of several"),
        pytest.param(["*.svc.test"], "a.svc.test", True, id="a wildcard"),
        pytest.param(["*.svc.test"], "svc.test", False, id="a wildcard is not nothing"),
        pytest.param(["*.svc.test"], "b.a.svc.test", False, id="a wildcard is not two labels"),
        pytest.param(["*.test"], "svc.test", False, id="a wildcard below a top level domain"),
        pytest.param(["127.0.0.1"], "127.0.0.1", True, id="the address"),
        pytest.param(["::1"], "::1", True, id="the IPv6 address"),
        pytest.param(["127.0.0.2"], "127.0.0.1", False, id="another address"),
        pytest.param(["svc.test"], "127.0.0.1", False, id="a name is no address"),
    ],
)
def test_names_are_compared_whole_and_a_wildcard_is_one_label(
    authority: trustme.CA, names: list[str], host: str, *, matches: bool
) -> None:
    leaf = x509.load_pem_x509_certificate(authority.issue_cert(*names).cert_chain_pems[0].bytes())

    assert (wrong_name(leaf, host) is None) is matches


@pytest.mark.parametrize("extensions", [[], [b"no names"], [b"0\x03\x82\x01\xff"]])
def test_neither_the_common_name_nor_what_nobody_can_read_is_a_name(extensions: list[bytes]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "svc.test")])
    start = x509.load_pem_x509_certificate(trustme.CA().cert_pem.bytes()).not_valid_before_utc
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, start, start.replace(year=2090))
    for each in extensions:
        unread = x509.UnrecognizedExtension(x509.SubjectAlternativeName.oid, each)
        builder = builder.add_extension(unread, critical=False)
    certificate = builder.sign(key, hashes.SHA256())

    assert (wrong_name(certificate, "svc.test"), wrong_name(certificate, "127.0.0.1")) == (62, 64)
