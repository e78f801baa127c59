"""Which certificates are believed, and the TLS contexts built on them; nothing comes from the environment.

`SSL_CERT_FILE`, `SSL_CERT_DIR` and `SSLKEYLOGFILE` have no effect: the store is loaded by explicit path, and the
contexts are built part by part. asyncio imports `ssl` in any case, so importing it here costs nothing.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.errors import ToolError

if TYPE_CHECKING:
    from app.net.verification import Verdict, Verifier

BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where distributions keep their bundle, for an OpenSSL whose compiled-in paths hold none."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """What one measurement wants of TLS: the protocols to offer by ALPN, in order, and what a bad certificate does.

    `strict` ends the handshake at a certificate that does not verify; `observe` goes on and says what was wrong.
    """

    alpn: tuple[str, ...] = ("http/1.1",)
    verify: Literal["strict", "observe"] = "strict"


@dataclass(frozen=True, slots=True)
class Store:
    """The trusted certificates by path; `name` is what the facts of a measurement call them."""

    file: str | None
    directory: str | None

    @property
    def name(self) -> str:
        """The path, or `none` when this machine has no store, with which every verification fails."""
        return self.file or self.directory or "none"


class Later:
    """The store once more, for verdicts after a handshake; read when the first one is wanted, and then kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._verifier: Verifier | None = None

    def verdict(self, chain: Sequence[bytes], host: str) -> Verdict:
        """OpenSSL's verdict on a chain (DER, leaf first) as it was sent."""
        if self._verifier is None:
            from app.net.verification import Verifier  # pyOpenSSL and cryptography, when a certificate is bad

            self._verifier = Verifier(self._store.file, self._store.directory)
        return self._verifier.verdict(chain, host)


@dataclass(frozen=True, slots=True)
class Trust:
    """A context, what it does about a bad certificate, the name of its store, and the same store for verdicts later."""

    context: ssl.SSLContext
    mode: Literal["strict", "observe"]
    store: str
    later: Later


class TrustStore:
    """One store and its contexts, one a mode and list of protocols: building one can cost a tenth of a second."""

    def __init__(self, ca_file: str | None = None, system: Store | None = None) -> None:
        self._given = Store(ca_file, None) if ca_file else system
        self._later: dict[Store, Later] = {}
        self._contexts: dict[TlsSettings, Trust] = {}
        self._building = asyncio.Lock()

    async def trust(self, settings: TlsSettings) -> Trust:
        """The context for these settings; built aside the event loop, so that no other measurement stalls."""
        known = self._contexts.get(settings)
        if known is not None:
            return known
        async with self._building:
            known = self._contexts.get(settings)
            if known is None:
                known = await asyncio.get_running_loop().run_in_executor(None, self._build, settings)
                self._contexts[settings] = known
        return known

    def _build(self, settings: TlsSettings) -> Trust:
        store = self._given or system_store(ssl.get_default_verify_paths())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # certificate required, host name checked
        context.hostname_checks_common_name = False  # RFC 9525: the subject's common name is no identity
        context.set_alpn_protocols(list(settings.alpn))
        if settings.verify == "observe":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        try:
            if store.file or store.directory:
                context.load_verify_locations(store.file, store.directory)
        except OSError as error:  # ssl.SSLError too: a file that holds no certificate
            message = f"the trust store {store.name} cannot be read: {error.strerror or error}"
            raise ToolError("internal_error", message, reason_code="trust_store") from error
        return Trust(context, settings.verify, store.name, self._later.setdefault(store, Later(store)))


def system_store(paths: ssl.DefaultVerifyPaths, bundles: Sequence[str] = BUNDLES) -> Store:
    """The store that OpenSSL was compiled with, else the first bundle of a distribution that exists."""
    file = paths.openssl_cafile if os.path.isfile(paths.openssl_cafile) else None
    directory = paths.openssl_capath if _has_entries(paths.openssl_capath) else None
    if file is None and directory is None:
        file = next((bundle for bundle in bundles if os.path.isfile(bundle)), None)
    return Store(file, directory)


def _has_entries(directory: str) -> bool:
    if not os.path.isdir(directory):
        return False
    with os.scandir(directory) as entries:
        return any(True for _ in entries)
