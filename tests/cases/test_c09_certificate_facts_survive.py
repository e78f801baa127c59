"""C09: a failed check has a code of its own, keeps the leaf's facts, and sends no request (blackbox_exporter#1119)."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.clock import SystemClock
from app.errors import ProbeFailed
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from app.net.trust import TlsSettings, TrustStore
from app.net.visit import Visit
from policy import Policy, parse_url

CLOCK = SystemClock()
DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.fromtimestamp(CLOCK.wall_ns() // 1_000_000_000, datetime.UTC)
KEY = ec.generate_private_key(ec.SECP256R1())
NAME = [x509.DNSName("svc.test")]


@dataclass(frozen=True)
class Recipe:
    """What a certificate is made of; the defaults make a good one for svc.test."""

    subject: str = "svc.test"
    names: Sequence[x509.GeneralName] = field(default_factory=lambda: NAME)
    issuer: str = "Test CA"
    not_before: datetime.datetime = NOW - DAY
    not_after: datetime.datetime = NOW + DAY
    key: Any = KEY
    is_authority: bool = False

    def sign(self, signer: Any = KEY) -> bytes:
        """The certificate in PEM."""
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.issuer)]))
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.not_before)
            .not_valid_after(self.not_after)
            .add_extension(x509.BasicConstraints(ca=self.is_authority, path_length=None), critical=True)
        )
        if self.names:
            builder = builder.add_extension(x509.SubjectAlternativeName(self.names), critical=False)
        return builder.sign(signer, hashes.SHA256()).public_bytes(Encoding.PEM)


AUTHORITY_KEY = ec.generate_private_key(ec.SECP256R1())
AUTHORITY = Recipe("Test CA", (), key=AUTHORITY_KEY, is_authority=True)
STRANGER_KEY = ec.generate_private_key(ec.SECP256R1())
INTERMEDIATE_KEY = ec.generate_private_key(ec.SECP256R1())
WEAK_KEY = rsa.generate_private_key(65537, 1024)  # noqa: S505  (a weak key is what one case is about)

HOST = "svc.test"
BAD = [
    pytest.param(Recipe(not_after=NOW - DAY / 2), AUTHORITY_KEY, HOST, "expired", 10, id="expired"),
    pytest.param(Recipe(not_before=NOW + DAY / 2), AUTHORITY_KEY, HOST, "not_yet_valid", 9, id="not yet valid"),
    pytest.param(Recipe(issuer="svc.test"), KEY, HOST, "self_signed", 18, id="self-signed"),
    pytest.param(Recipe(names=[x509.DNSName("other.test")]), AUTHORITY_KEY, HOST, "wrong_name", 62, id="another name"),
    pytest.param(Recipe(names=()), AUTHORITY_KEY, HOST, "wrong_name", 62, id="the name in CN only"),
    pytest.param(Recipe("127.0.0.1"), AUTHORITY_KEY, "127.0.0.1", "wrong_name", 64, id="the address in CN only"),
    pytest.param(Recipe(issuer="Stranger"), STRANGER_KEY, HOST, "unknown_issuer", 20, id="an unknown authority"),
    pytest.param(Recipe(issuer="Middle"), INTERMEDIATE_KEY, HOST, "unknown_issuer", 20, id="no intermediate"),
    pytest.param(Recipe(key=WEAK_KEY), AUTHORITY_KEY, HOST, "invalid", 66, id="a key of 1024 bits"),
]  # fmt: skip


class Server:
    """Accepts one connection on loopback, with TLS or without, and keeps what it could read."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.received = b""
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        plain, _ = self._listener.accept()
        with self._listener, plain:
            if self._context is None:
                plain.recv(65536)
                plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            try:
                with self._context.wrap_socket(plain, server_side=True) as connection:
                    self.received = connection.recv(65536)
            except OSError:
                return  # the client did not like the certificate, or we did not get one

    def join(self) -> None:
        """Wait until the connection is over."""
        self._thread.join(5)


def context(folder: Path, certificate: bytes, key: Any) -> ssl.SSLContext:
    pem = folder / "server.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem.write_bytes(private + certificate)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.set_ciphers("DEFAULT:@SECLEVEL=0")
    made.load_cert_chain(str(pem))
    return made


def measure(
    folder: Path, server: Server, host: str, verify: Literal["strict", "observe"] = "strict"
) -> tuple[str | None, Trace]:
    """Open a stream to the server and send a request; the code of the failure, if it failed, and the trace."""
    (folder / "ca.pem").write_bytes(AUTHORITY.sign(AUTHORITY_KEY))
    (folder / "hosts").write_text("127.0.0.1 svc.test\n")
    network = SocketNetwork(CLOCK, hosts_path=str(folder / "hosts"))
    store = TrustStore(str(folder / "ca.pem"))
    dialer = Dialer(Policy.parse("loopback"), network, CLOCK, budget=None, max_in_flight=0, trust_store=store)
    trace, visit = Trace(), Visit(tls=TlsSettings(verify=verify))

    async def run() -> str | None:
        phases = Phases(CLOCK)
        try:
            stream = await dialer.open(
                parse_url(f"https://{host}:{server.port}/"), trace, phases, visit=visit
            )
            await stream.send(b"GET / HTTP/1.1\r\n\r\n")
            phases.begin("first_byte")
            try:
                await stream.receive()
            finally:
                stream.close()
        except ProbeFailed as error:
            return error.code
        finally:
            server.join()
        return None

    return asyncio.run(run()), trace


@pytest.mark.parametrize(("recipe", "signer", "host", "code", "number"), BAD)
def test_c09_a_failed_check_has_its_code_keeps_the_leaf_and_sends_no_request(
    tmp_path: Path, recipe: Recipe, signer: Any, host: str, code: str, number: int
) -> None:
    server = Server(context(tmp_path, recipe.sign(signer), recipe.key))

    failed, trace = measure(tmp_path, server, host)

    tls = trace.tls
    assert tls is not None
    leaf = tls["chain"][0]
    assert (failed, tls["verify"]["code"], server.received) == (f"certificate_{code}", number, b"")
    assert (tls["version"], leaf["subject"], leaf["issuer"]) == (
        "TLSv1.3",
        f"CN={recipe.subject}",
        f"CN={recipe.issuer}",
    )
    assert leaf["not_before"].startswith(f"{recipe.not_before:%Y-%m-%dT%H:%M:%S}")
    assert leaf["not_after"].startswith(f"{recipe.not_after:%Y-%m-%dT%H:%M:%S}")
    assert (len(leaf["sha256"]), leaf["unreadable"]) == (64, [])
    assert (leaf["san"] is None) is (not recipe.names)


@pytest.mark.parametrize(("recipe", "signer", "host", "code", "number"), BAD)
def test_c09_an_observer_sends_its_request_and_says_the_number_of_the_failed_check(
    tmp_path: Path, recipe: Recipe, signer: Any, host: str, code: str, number: int
) -> None:
    server = Server(context(tmp_path, recipe.sign(signer), recipe.key))

    failed, trace = measure(tmp_path, server, host, "observe")

    tls = trace.tls
    assert (failed, server.received) == (None, b"GET / HTTP/1.1\r\n\r\n")
    assert tls is not None
    assert (tls["verify"]["mode"], tls["verify"]["code"], tls["verify"]["depth"]) == ("observe", number, 0)
    assert tls["verified_chain"] == []


@pytest.mark.parametrize("verify", ["strict", "observe"])
@pytest.mark.parametrize(
    ("sends", "number"), [pytest.param(True, 0, id="with it"), pytest.param(False, 20, id="without it")]
)
def test_c09_an_intermediate_is_a_fact_as_it_was_sent(
    tmp_path: Path, verify: Literal["strict", "observe"], *, sends: bool, number: int
) -> None:
    middle = Recipe("Middle", (), key=INTERMEDIATE_KEY, is_authority=True).sign(AUTHORITY_KEY)
    sent = Recipe(issuer="Middle").sign(INTERMEDIATE_KEY) + (middle if sends else b"")
    server = Server(context(tmp_path, sent, KEY))

    _failed, trace = measure(tmp_path, server, HOST, verify)

    assert trace.tls is not None
    names = ["CN=svc.test", "CN=Middle"] if sends else ["CN=svc.test"]
    assert [each["subject"] for each in trace.tls["chain"]] == names
    assert trace.tls["verify"]["code"] == number
    built = [*names, "CN=Test CA"] if sends else []
    assert [each["subject"] for each in trace.tls["verified_chain"]] == built


@pytest.mark.parametrize(
    ("host", "names"), [("svc.test", NAME), ("127.0.0.1", [x509.IPAddress(ip_address("127.0.0.1"))])]
)
def test_c09_a_good_certificate_passes_by_name_and_by_address(
    tmp_path: Path, host: str, names: Sequence[x509.GeneralName]
) -> None:
    server = Server(context(tmp_path, Recipe(names=names).sign(AUTHORITY_KEY), KEY))

    failed, trace = measure(tmp_path, server, host)

    assert (failed, server.received) == (None, b"GET / HTTP/1.1\r\n\r\n")
    assert trace.tls is not None
    assert trace.tls["verify"]["code"] == 0


def test_c09_a_client_certificate_that_we_do_not_have_is_a_failure_of_tls(tmp_path: Path) -> None:
    wanting = context(tmp_path, Recipe().sign(AUTHORITY_KEY), KEY)
    wanting.verify_mode = ssl.CERT_REQUIRED
    wanting.maximum_version = ssl.TLSVersion.TLSv1_2

    failed, trace = measure(tmp_path, Server(wanting), "svc.test")

    assert failed == "tls_failed"
    assert trace.tls is not None
    assert (trace.tls["version"], trace.tls["chain"][0]["subject"]) == ("TLSv1.2", "CN=svc.test")


def test_c09_plain_http_on_the_port_has_no_certificate_and_no_dates(tmp_path: Path) -> None:
    failed, trace = measure(tmp_path, Server(None), "svc.test")

    assert failed == "tls_failed"
    assert trace.tls is not None
    assert (trace.tls["version"], trace.tls["chain"]) == (None, [])
