"""Shared fixtures: a guard that keeps tests on loopback, and a scripted byte server."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

Step = bytes | str | tuple[str, float]


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection and datagram of this process to an address that is not loopback."""

    def guarded(name: str) -> Callable[..., Any]:
        original = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                _refuse_beyond_loopback(arguments[-1][0])
            return original(self, *arguments)

        return call

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, guarded(name))


@pytest.fixture(autouse=True)
def no_log_left_open() -> Iterator[None]:
    """A log that a test leaves open keeps its thread, its descriptors and its locks into the tests behind it."""
    before = set(threading.enumerate())
    yield
    left = [each for each in threading.enumerate() if each.name == "log-writer" and each not in before]
    for each in left:  # one that was left behind ends as soon as it looks
        each.join(30)
    assert [each for each in left if each.is_alive()] == []


@pytest.fixture(scope="session", autouse=True)
def kernel_stamps() -> Iterator[None]:
    """The kernel begins to stamp a moment after the first socket wants it; here one wants it all the time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        yield


def _refuse_beyond_loopback(host: str) -> None:
    address = ipaddress.ip_address(host)
    if not address.is_loopback:
        raise AssertionError(f"a test reached for {host}, which is not loopback")


class ByteServer:
    """A loopback server that plays one list of steps a connection and keeps what it received.

    Steps: bytes are sent; `"read"` reads up to the blank line of a request head; `("wait", s)` waits, or until
    the server closes; `"eof"` closes; `"reset"` closes with RST; `"hang"` waits until the server closes;
    `"upgrade"` reads a request head and answers with the handshake of a WebSocket, `"deflate"` does so with
    permessage-deflate; `"drain"` reads what still comes, until the other end closes, into `requests`.
    The last list serves every further connection.
    """

    def __init__(self, script: Sequence[Sequence[Step]], host: str = "127.0.0.1") -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._script = script
        self._closing = threading.Event()
        self._reached = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def wait_for_connection(self, seconds: float = 10) -> None:
        """Return when somebody has connected."""
        assert self._reached.wait(seconds)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            steps = self._script[min(self.connections, len(self._script) - 1)]
            self.connections += 1
            self._reached.set()
            thread = threading.Thread(target=self._play, args=(connection, steps), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _play(self, connection: socket.socket, steps: Sequence[Step]) -> None:
        with connection:
            try:
                for step in steps:
                    if not self._take(connection, step):
                        return
            except OSError:
                return  # the client went away first, which some scripts provoke

    def _take(self, connection: socket.socket, step: Step) -> bool:
        if isinstance(step, bytes):
            connection.sendall(step)
        elif step == "read":
            self._read_head(connection)
        elif step in ("upgrade", "deflate"):
            self._upgrade(connection, with_deflate=step == "deflate")
        elif step == "drain":
            self._drain(connection)
        elif step == "eof":
            return False
        elif step == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        else:
            self._closing.wait(None if isinstance(step, str) else step[1])
        return True

    def _upgrade(self, connection: socket.socket, *, with_deflate: bool) -> None:
        self._read_head(connection)
        fields = dict(line.split(b": ", 1) for line in self.requests[-1].split(b"\r\n") if b": " in line)
        key = fields[b"Sec-WebSocket-Key"] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest())
        extension = b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if with_deflate else b""
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        connection.sendall(head + b"Sec-WebSocket-Accept: " + accept + b"\r\n" + extension + b"\r\n")

    def _drain(self, connection: socket.socket) -> None:
        self.requests.append(b"")
        index = len(self.requests) - 1
        while piece := connection.recv(65536):
            self.requests[index] += piece

    def _read_head(self, connection: socket.socket) -> None:
        received = bytearray()
        self.requests.append(b"")
        index = len(self.requests) - 1
        while b"\r\n\r\n" not in received:
            piece = connection.recv(65536)
            received += piece
            self.requests[index] = bytes(received)
            if not piece:
                return

    def close(self) -> None:
        if self._closing.is_set():
            return
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)


@pytest.fixture
def byte_server() -> Iterator[Callable[..., ByteServer]]:
    """`byte_server(script)` starts a server that is closed after the test."""
    servers: list[ByteServer] = []

    def start(script: Sequence[Sequence[Step]], host: str = "127.0.0.1") -> ByteServer:
        servers.append(ByteServer(script, host))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """`site(limits=, PLINTH_FACTS_…=)`: an endpoint over HTTP with the directory `data` of the test."""
    from app.main import Application
    from app.settings import Settings
    from app.transport.connections import LIMITS
    from tests.http_site import Site

    made: list[Site] = []

    def start(limits: Any = LIMITS, **variables: str) -> Site:
        given = {"PLINTH_DATA_DIR": str(tmp_path / "data"), "PLINTH_FACTS_TRANSPORT": "http", **variables}
        made.append(Site(Application(Settings.model_validate(given)), limits))
        return made[-1]

    yield start
    for each in made:
        each.close()
