"""OpenSSL's verdict on a chain after the handshake: its number, its words and the certificate it is about.

Python's handshake either ends at a bad certificate or keeps what OpenSSL thought of it to itself. So the chain as it
was sent is judged once more, by the OpenSSL beneath `cryptography`, against the same store, and with the same
questions in the same order, so that both ways give the same number: chain and purpose, strength, name, then dates and
signatures. Imports pyOpenSSL: import it late.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from OpenSSL import _util, crypto

from app.net.certificate import FOREIGN
from app.net.certificate_names import WRONG_NAME, wrong_name
from app.net.certificate_strength import TEXTS, weakness

OK = 0
_AFTER_THE_NAME = frozenset({OK, 6, 7, 9, 10, 13, 14, 42, 43, 47, 48, 49, 51, 52, 53})
"""Numbers of what OpenSSL looks at after strength and name: signatures, dates, constraints of names, policies."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`code` and `text` of OpenSSL (0, `ok`) and the certificate that they are about, counted from the leaf.

    `depth` is None when nothing is wrong; `chain` (DER, up to the root) is empty when something is.
    """

    code: int | None
    text: str
    depth: int | None
    chain: tuple[bytes, ...] = ()


class Verifier:
    """One trust store, read once."""

    def __init__(self, file: str | None, directory: str | None) -> None:
        self._store = crypto.X509Store()
        # The purpose has no public name in pyOpenSSL; without it a certificate for clients would pass for a server.
        _util.lib.X509_STORE_set_purpose(self._store._store, _util.lib.X509_PURPOSE_SSL_SERVER)
        if file or directory:
            self._store.load_locations(
                os.fsencode(file) if file else None, os.fsencode(directory) if directory else None
            )

    def verdict(self, chain: Sequence[bytes], host: str) -> Verdict:
        """What OpenSSL says of a chain as it was sent (DER, leaf first) for a host."""
        try:
            sent = [x509.load_der_x509_certificate(der) for der in chain]
            found, verified = self._ask(sent)
        except FOREIGN:
            return Verdict(None, "a certificate of the chain cannot be read", None)
        if found.code not in _AFTER_THE_NAME:
            return found
        weak = weakness(verified or sent)
        if weak is not None:
            return Verdict(weak[0], TEXTS[weak[0]], weak[1])
        wrong = wrong_name(sent[0], host)
        if wrong is not None:
            return Verdict(wrong, "hostname mismatch" if wrong == WRONG_NAME else "IP address mismatch", 0)
        return found

    def _ask(self, sent: list[x509.Certificate]) -> tuple[Verdict, list[x509.Certificate]]:
        """OpenSSL's answer, and the chain that it built when it found nothing."""
        leaf, *others = [crypto.X509.from_cryptography(each) for each in sent]
        try:
            built = crypto.X509StoreContext(self._store, leaf, others).get_verified_chain()
        except crypto.X509StoreContextError as error:
            code, depth, text = error.errors
            return Verdict(code, text, depth), []
        verified = [each.to_cryptography() for each in built]
        return Verdict(OK, "ok", None, tuple(each.public_bytes(Encoding.DER) for each in verified)), verified
