"""What cases share: one measurement over loopback, recall in process, and a loopback server that speaks TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from app.clock import SystemClock
from app.errors import ToolError
from app.main import Application
from app.measure.http import KIND as HTTP
from app.measure.kind import Bench, Kind, Limits, Outcome
from app.measure.ws import KIND as WS
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from app.net.trust import TrustStore
from app.settings import Settings
from app.store.log import Damage
from policy import Policy

MeasureHttp = Callable[..., Outcome]


@pytest.fixture
def measure_http() -> MeasureHttp:
    """`measure_http(url, **arguments)` as the tool does it, under the profile `loopback` or an allowlist."""
    return measuring(HTTP)


@pytest.fixture
def measure_ws() -> MeasureHttp:
    """The same for a WebSocket."""
    return measuring(WS)


def measuring(kind: Kind) -> MeasureHttp:
    """A function that measures with this kind."""

    def run(
        url: str,
        *,
        allow: str | None = None,
        ca_file: str | None = None,
        limits: Limits | None = None,
        **arguments: Any,
    ) -> Outcome:
        clock = SystemClock()
        policy = Policy.parse("loopback") if allow is None else Policy.parse("allowlist", allow)
        dialer = Dialer(
            policy, SocketNetwork(clock), clock, budget=None, max_in_flight=0, trust_store=TrustStore(ca_file)
        )
        params = msgspec.convert({"project": "p", "url": url, **arguments}, kind.params)

        async def take() -> Outcome:
            deadline_ns = clock.monotonic_ns() + params.timeout_ms * 1_000_000
            bench = Bench(dialer, clock, deadline_ns, limits or Limits())
            outcome = await kind.probe(kind.plan(params, bench), bench)
            msgspec.convert(outcome.data, kind.facts)
            return outcome

        return asyncio.run(take())

    return run


class Clerk(Application):
    """The recall tools of an application in this process; `reported` has what its logs and indexes complained about."""

    def __init__(self, data: Path, clock: SystemClock | None = None) -> None:
        self.reported: list[Damage] = []
        given = {"PLINTH_DATA_DIR": str(data), "PLINTH_FACTS_TOOLSETS": "recall"}
        settings = Settings.model_validate(given)
        assert settings.data_dir == str(data)  # never the registry of whoever runs the tests
        super().__init__(settings)
        self.clock = clock or self.clock

    def _report(self, damage: Damage) -> None:
        self.reported.append(damage)

    def all(self, *asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers of recall calls that are made at once; each an error's content where there is one."""

        async def together() -> list[dict[str, Any]]:
            return list(await asyncio.gather(*(self._one(name, arguments) for name, arguments in asked)))

        return asyncio.run(together())

    def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one call."""
        return self.all((name, arguments))[0]

    async def _one(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        given = {"project": "p", **arguments}
        try:
            return await self.call(f"facts.recall.{name}", given)
        except ToolError as error:
            return self.error_content(error, given)


@pytest.fixture
def clerk(tmp_path: Path) -> Iterator[Callable[..., Clerk]]:
    """`clerk(clock=None)` starts an application over the test's folder `data`, closed after the test."""
    working: list[Clerk] = []

    def start(clock: SystemClock | None = None) -> Clerk:
        working.append(Clerk(tmp_path / "data", clock))
        return working[-1]

    yield start
    for one in working:
        one.close()


class TlsServer:
    """A loopback TLS server: reads a request head, then plays bytes and pauses (seconds), then closes."""

    def __init__(self, context: ssl.SSLContext, script: Sequence[bytes | float]) -> None:
        self.requests: list[bytes] = []
        self._context = context
        self._script = script
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                plain, _ = self._listener.accept()
                with self._context.wrap_socket(plain, server_side=True) as connection:
                    self._play(connection)
            except OSError:
                continue  # the client went away, or the listener is closed

    def _play(self, connection: ssl.SSLSocket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(65536)
        self.requests.append(head)
        for step in self._script:
            if isinstance(step, bytes):
                connection.sendall(step)
            else:
                self._closing.wait(step)

    def close(self) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    """A certificate authority of this test; `ca.pem` in the test's folder is its certificate."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return made


@pytest.fixture
def tls_server(authority: trustme.CA) -> Iterator[Callable[..., TlsServer]]:
    """`tls_server(*script)` starts a server with a good certificate for 127.0.0.1 and localhost."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    servers: list[TlsServer] = []

    def start(*script: bytes | float) -> TlsServer:
        servers.append(TlsServer(context, script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
