"""The facts of a handshake with servers of old and new versions, good and bad certificates, strict and observing."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme

from app.clock import SystemClock
from app.errors import ProbeFailed, ToolError
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from app.net.trust import TlsSettings, Trust, TrustStore
from policy import Policy, parse_url

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
PAST = datetime(2020, 1, 1, tzinfo=UTC)
Start = Callable[..., "Server"]


class Server:
    """Shakes hands and answers every request; what its clients do wrong is their business."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"https://localhost:{self.port}/"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with plain:
                self._answer(plain)

    def _answer(self, plain: socket.socket) -> None:
        try:
            with self._context.wrap_socket(plain, server_side=True) as connection:
                self.requests.append(connection.recv(65536))
                connection.sendall(ANSWER)
        except OSError:
            return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


@pytest.fixture
def start(authority: trustme.CA) -> Iterator[Start]:
    """`start(names, setup)`: a server with a certificate for these names, its context set up by `setup`."""
    servers: list[Server] = []

    def make(setup: Callable[[ssl.SSLContext], object] = id, **certificate: Any) -> Server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*certificate.pop("names", ["localhost"]), **certificate).configure_cert(context)
        setup(context)
        servers.append(Server(context))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def only(version: ssl.TLSVersion) -> Callable[[ssl.SSLContext], None]:
    def setup(context: ssl.SSLContext) -> None:
        context.minimum_version = context.maximum_version = version
        context.set_ecdh_curve("prime256v1")  # not the first guess of a client: TLS 1.3 has to ask again

    return setup


def old(context: ssl.SSLContext) -> None:
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1


def without_groups(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-GCM-SHA256")


@pytest.fixture
def measured(measure_http: Any, tmp_path: Any) -> Callable[..., Any]:
    """The outcome against a server, with the authority of the test trusted."""
    return lambda server, **arguments: measure_http(
        server.url, ca_file=str(tmp_path / "ca.pem"), connect_to=f"127.0.0.1:{server.port}", **arguments
    )


@pytest.mark.parametrize(
    ("number", "version"), [(ssl.TLSVersion.TLSv1_3, "TLSv1.3"), (ssl.TLSVersion.TLSv1_2, "TLSv1.2")]
)
@pytest.mark.parametrize("key_type", list(trustme.KeyType))
def test_a_good_handshake_is_described_in_full(
    start: Start, measured: Any, number: ssl.TLSVersion, version: str, key_type: trustme.KeyType
) -> None:
    tls = measured(start(only(number), key_type=key_type)).data["tls"]

    assert (tls["version"], tls["group"], tls["sni"], tls["client_cert_requested"], tls["alert"]) == (
        version,
        "secp256r1",
        "localhost",
        False,
        None,
    )
    assert [each["sha256"] for each in tls["verified_chain"]][:1] == [tls["chain"][0]["sha256"]]
    assert len(tls["verified_chain"]) == 2
    assert (tls["verify"]["mode"], tls["verify"]["code"], tls["verify"]["text"]) == ("strict", 0, "ok")


def test_a_server_without_a_suite_of_ours_sends_an_alert_in_clear(start: Start, measured: Any) -> None:
    outcome = measured(start(without_groups, key_type=trustme.KeyType.RSA))

    tls = outcome.data["tls"]
    assert outcome.error["code"] == "tls_failed"
    assert tls["alert"] == {"level": "fatal", "code": 40, "name": "handshake_failure"}
    assert (tls["cipher"], tls["group"], tls["client_cert_requested"]) == (None, None, None)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_a_server_that_is_too_old_is_refused_with_its_version(start: Start, measured: Any) -> None:
    outcome = measured(start(old))

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "tls_failed", "tls")
    assert outcome.error["alert"] == "protocol_version"
    assert outcome.data["tls"]["alert"] == {"level": "fatal", "code": 70, "name": "protocol_version"}
    assert (outcome.data["tls"]["version"], outcome.data["tls"]["chain"]) == (None, [])
    assert (outcome.data["bytes"]["sent"] > 0, outcome.data["bytes"]["received"]) == (True, 7)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_wants_a_certificate_of_ours_says_so(
    start: Start, measured: Any, authority: trustme.CA, version: ssl.TLSVersion
) -> None:
    def setup(context: ssl.SSLContext) -> None:
        only(version)(context)
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)

    outcome = measured(start(setup))

    tls = outcome.data["tls"]
    assert (outcome.ok, outcome.error["code"]) == (False, "tls_failed")
    assert tls["client_cert_requested"] is True
    assert tls["alert"]["name"] in ("certificate_required", "handshake_failure")
    assert outcome.error["alert"] == tls["alert"]["name"]


def test_a_certificate_that_is_wanted_and_not_needed_is_a_fact(
    start: Start, measured: Any, authority: trustme.CA
) -> None:
    def setup(context: ssl.SSLContext) -> None:
        context.verify_mode = ssl.CERT_OPTIONAL
        authority.configure_trust(context)

    outcome = measured(start(setup))

    assert (outcome.data["http_status"], outcome.data["tls"]["client_cert_requested"]) == (200, True)


def test_a_failed_check_names_the_depth_and_leaves_the_whole_chain(start: Start, measured: Any) -> None:
    server = start(not_before=PAST, not_after=PAST + timedelta(days=1))

    outcome = measured(server)

    tls = outcome.data["tls"]
    assert (outcome.error["code"], tls["verify"]["code"], tls["verify"]["depth"]) == (
        "certificate_expired",
        10,
        0,
    )
    assert (tls["chain"][0]["not_after"], tls["verified_chain"]) == ("2020-01-02T00:00:00.000000Z", [])
    assert server.requests == []
    assert outcome.data["bytes"]["received"] > 0


@pytest.mark.parametrize(
    ("certificate", "code"),
    [
        pytest.param({}, 0, id="good"),
        pytest.param({"not_before": PAST, "not_after": PAST + timedelta(days=1)}, 10, id="expired"),
        pytest.param({"names": ["other.test"]}, 62, id="another name"),
    ],
)
def test_an_observer_goes_on_over_one_connection_and_says_what_was_wrong(
    start: Start, measured: Any, certificate: dict[str, Any], code: int
) -> None:
    server = start(**certificate)

    outcome = measured(server, verify="observe")

    assert (outcome.ok, outcome.error, outcome.data["body"]) == (True, None, "hi")
    assert (outcome.data["tls"]["verify"]["mode"], outcome.data["tls"]["verify"]["code"]) == ("observe", code)
    assert (server.connections, len(server.requests)) == (1, 1)


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": "Bearer x"}, {"Cookie": "a=b"}, {"X-Api-Key": "k"}, {"X-Session-Token": "t"}],
)
def test_an_observer_sends_no_secrets(start: Start, measured: Any, headers: dict[str, str]) -> None:
    server = start()
    with pytest.raises(ToolError) as caught:
        measured(server, verify="observe", headers=headers)

    assert (caught.value.code, caught.value.field, server.connections) == ("invalid_arguments", "headers", 0)


def test_an_observer_may_send_what_is_no_secret(start: Start, measured: Any) -> None:
    assert measured(start(), verify="observe", headers={"Accept": "text/html"}).data["http_status"] == 200


def test_getting_the_trust_store_ready_belongs_to_no_phase(measure_http: Any) -> None:
    seen = []

    class Watched(TrustStore):
        async def trust(self, settings: TlsSettings) -> Trust:
            seen.append(phases.current)
            return await super().trust(settings)

    clock = SystemClock()
    phases = Phases(clock)
    dialer = Dialer(
        Policy.parse("loopback"),
        SocketNetwork(clock),
        clock,
        budget=None,
        max_in_flight=0,
        trust_store=Watched(),
    )
    with pytest.raises(ProbeFailed):
        asyncio.run(dialer.open(parse_url("https://localhost:1/"), Trace(), phases))

    assert seen == [None]
