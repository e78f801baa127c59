"""Whether a certificate is for a host, by RFC 9525: its own names alone, never its subject. Imports cryptography."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from cryptography import x509

from app.net.certificate import FOREIGN

WRONG_NAME: Final = 62
WRONG_ADDRESS: Final = 64


def wrong_name(certificate: x509.Certificate, host: str) -> int | None:
    """OpenSSL's number for a certificate that is not for this host, None when it is."""
    names = _names(certificate)
    try:
        address = ip_address(host)
    except ValueError:
        listed = names.get_values_for_type(x509.DNSName)
        return None if any(_is_named(name, host) for name in listed) else WRONG_NAME
    return None if address in names.get_values_for_type(x509.IPAddress) else WRONG_ADDRESS


def _names(certificate: x509.Certificate) -> x509.SubjectAlternativeName:
    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, *FOREIGN):
        return x509.SubjectAlternativeName([])  # what nobody can read names nobody


def _is_named(name: str, host: str) -> bool:
    """Whether a name of the certificate stands for the host; a wildcard is the whole first label, of three or more."""
    name, host = name.lower().rstrip("."), host.lower()
    first, _, rest = name.partition(".")
    if first != "*":
        return name == host
    return "." in rest and host.partition(".")[2] == rest
