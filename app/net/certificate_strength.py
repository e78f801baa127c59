"""Whether the keys and signatures of a chain are as strong as OpenSSL's security level 2 asks. Imports cryptography.

Python's `ssl` holds its handshakes to that level (112 bits), which pyOpenSSL cannot set for a chain judged later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa

from app.net.certificate import FOREIGN

WEAK_LEAF: Final = 66
WEAK_AUTHORITY: Final = 67
WEAK_SIGNATURE: Final = 68
TEXTS: Final = {
    WEAK_LEAF: "EE certificate key too weak",
    WEAK_AUTHORITY: "CA certificate key too weak",
    WEAK_SIGNATURE: "CA signature digest algorithm too weak",
}
"""OpenSSL's words for its numbers."""

_LEAST_FACTORED = 2048
_LEAST_CURVE = 224
_BROKEN = (hashes.MD5, hashes.SHA1)


def weakness(chain: Sequence[x509.Certificate]) -> tuple[int, int] | None:
    """OpenSSL's number and the depth of the first certificate that is too weak, None when all are strong.

    The signature of the last is not looked at: it is the trusted one, or nothing here vouches for it.
    """
    for depth, certificate in enumerate(chain):
        if _has_weak_key(certificate):
            return WEAK_AUTHORITY if depth else WEAK_LEAF, depth
        if depth < len(chain) - 1 and _has_weak_signature(certificate):
            return WEAK_SIGNATURE, depth
    return None


def _has_weak_key(certificate: x509.Certificate) -> bool:
    try:
        key = certificate.public_key()
    except FOREIGN:
        return False  # OpenSSL has a word of its own for it
    if isinstance(key, (rsa.RSAPublicKey, dsa.DSAPublicKey)):
        return key.key_size < _LEAST_FACTORED
    return isinstance(key, ec.EllipticCurvePublicKey) and key.key_size < _LEAST_CURVE


def _has_weak_signature(certificate: x509.Certificate) -> bool:
    try:
        return isinstance(certificate.signature_hash_algorithm, _BROKEN)
    except FOREIGN:
        return False
