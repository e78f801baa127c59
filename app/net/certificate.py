"""The facts of one certificate, from its DER bytes; parsing only, no verdict. Imports cryptography: import it late."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from app.clock import utc_text

Certificate = x509.Certificate

FOREIGN = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
    x509.InvalidVersion,
)
"""What cryptography raises for a certificate that is not as it should be; the one place where that is met."""

_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
)
_PURPOSES = {
    ExtendedKeyUsageOID.SERVER_AUTH: "server_auth",
    ExtendedKeyUsageOID.CLIENT_AUTH: "client_auth",
    ExtendedKeyUsageOID.CODE_SIGNING: "code_signing",
    ExtendedKeyUsageOID.EMAIL_PROTECTION: "email_protection",
    ExtendedKeyUsageOID.TIME_STAMPING: "time_stamping",
    ExtendedKeyUsageOID.OCSP_SIGNING: "ocsp_signing",
    ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE: "any",
}


def facts_of(der: bytes, wall_ns: int) -> dict[str, Any]:
    """The certificate as JSON values; `seconds_to_not_after` counts from `wall_ns` and may be negative.

    What the certificate does not have is null; what it has but nobody can read is null and named in `unreadable`.
    """
    sha256 = hashlib.sha256(der).hexdigest()
    try:
        certificate = x509.load_der_x509_certificate(der)
    except FOREIGN as error:
        return {"sha256": sha256, "unreadable": ["certificate"], "error": str(error)[:200]}
    read: dict[str, Any] = {}
    unreadable: list[str] = []
    for name, reader in _READERS.items():
        try:
            read[name] = reader(certificate)
        except x509.ExtensionNotFound:
            read[name] = None
        except FOREIGN:
            read[name] = None
            unreadable.append(name)
    not_after = read.pop("not_after_at")
    read["not_after"] = None if not_after is None else _text(not_after)
    read["seconds_to_not_after"] = None if not_after is None else _seconds(not_after, wall_ns)
    return {**read, "sha256": sha256, "unreadable": unreadable}


def brief_facts(der: bytes) -> dict[str, Any]:
    """Which certificate it is: `{subject, sha256}`; the subject is null when nobody can read it."""
    sha256 = hashlib.sha256(der).hexdigest()
    try:
        return {"subject": x509.load_der_x509_certificate(der).subject.rfc4514_string(), "sha256": sha256}
    except FOREIGN:
        return {"subject": None, "sha256": sha256}


def _text(moment: datetime) -> str:
    return utc_text(round(moment.timestamp()) * 1_000_000_000)


def _seconds(not_after: datetime, wall_ns: int) -> int:
    return round(not_after.timestamp()) - wall_ns // 1_000_000_000


def _names(certificate: Certificate) -> dict[str, list[str]]:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {
        "dns": names.get_values_for_type(x509.DNSName),
        "ip": [str(address) for address in names.get_values_for_type(x509.IPAddress)],
        "uri": names.get_values_for_type(x509.UniformResourceIdentifier),
        "email": names.get_values_for_type(x509.RFC822Name),
    }


def _key(certificate: Certificate) -> dict[str, Any]:
    key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        return {"type": "RSA", "bits": key.key_size, "curve": None}
    if isinstance(key, ec.EllipticCurvePublicKey):
        return {"type": "EC", "bits": key.key_size, "curve": key.curve.name}
    if isinstance(key, dsa.DSAPublicKey):
        return {"type": "DSA", "bits": key.key_size, "curve": None}
    if isinstance(key, ed25519.Ed25519PublicKey):
        return {"type": "Ed25519", "bits": 256, "curve": None}
    if isinstance(key, ed448.Ed448PublicKey):
        return {"type": "Ed448", "bits": 456, "curve": None}
    return {"type": certificate.public_key_algorithm_oid.dotted_string, "bits": None, "curve": None}


def _spki_sha256(certificate: Certificate) -> str:
    der = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def _key_usage(certificate: Certificate) -> list[str]:
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    return [name for name in _USAGES if getattr(usage, name)]


def _eku(certificate: Certificate) -> list[str]:
    purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    return [_PURPOSES.get(purpose, purpose.dotted_string) for purpose in purposes]


def _access(method: x509.ObjectIdentifier) -> Callable[[Certificate], list[str]]:
    def read(certificate: Certificate) -> list[str]:
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
        return [_location(each.access_location) for each in access if each.access_method == method]

    return read


def _crl_dps(certificate: Certificate) -> list[str]:
    points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    return [_location(name) for point in points for name in point.full_name or ()]


def _location(name: x509.GeneralName) -> str:
    return str(name.value)


def _scts(certificate: Certificate) -> int:
    scts = x509.PrecertificateSignedCertificateTimestamps
    return len(list(certificate.extensions.get_extension_for_class(scts).value))


def _must_staple(certificate: Certificate) -> bool:
    try:
        features = certificate.extensions.get_extension_for_class(x509.TLSFeature).value
    except x509.ExtensionNotFound:
        return False
    return x509.TLSFeatureType.status_request in features


def _signature_algorithm(certificate: Certificate) -> str:
    oid = certificate.signature_algorithm_oid
    name = getattr(oid, "_name", "Unknown OID")
    return oid.dotted_string if name == "Unknown OID" else str(name)


_READERS: dict[str, Callable[[Certificate], Any]] = {
    "subject": lambda certificate: certificate.subject.rfc4514_string(),
    "issuer": lambda certificate: certificate.issuer.rfc4514_string(),
    "serial": lambda certificate: f"{certificate.serial_number:x}",
    "not_before": lambda certificate: _text(certificate.not_valid_before_utc),
    "not_after_at": lambda certificate: certificate.not_valid_after_utc,
    "san": _names,
    "key": _key,
    "signature_algorithm": _signature_algorithm,
    "spki_sha256": _spki_sha256,
    "key_usage": _key_usage,
    "eku": _eku,
    "ocsp_urls": _access(AuthorityInformationAccessOID.OCSP),
    "ca_issuers": _access(AuthorityInformationAccessOID.CA_ISSUERS),
    "crl_dps": _crl_dps,
    "scts": _scts,
    "must_staple": _must_staple,
    "self_issued": lambda certificate: certificate.subject == certificate.issuer,
}
