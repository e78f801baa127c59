"""A WebSocket over TLS: the same conversation, with the facts of the certificate, and none after a bad one."""

from __future__ import annotations

import base64
import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
HELLO = b"\x81\x05hello"
BYE = b"\x88\x02\x03\xe8"


class Server:
    """Accepts one connection, shakes hands twice, says hello with the head of its answer, and closes."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.heads: list[bytes] = []
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"wss://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            plain, _ = self._listener.accept()
            with self._context.wrap_socket(plain, server_side=True) as connection:
                self._answer(connection)
        except OSError:
            return  # the client does not trust us, or nobody came

    def _answer(self, connection: ssl.SSLSocket) -> None:
        head = connection.recv(65536)
        self.heads.append(head)
        key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        accept = base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())
        lines = [
            b"HTTP/1.1 101 X", b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Accept: " + accept
        ]  # fmt: skip
        connection.sendall(b"\r\n".join([*lines, b"", HELLO]))
        connection.sendall(HELLO + BYE)
        connection.recv(65536)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    made = Server(context)
    yield made
    made.close()


def test_messages_over_tls_are_heard_and_the_certificate_is_told(
    measure_ws: Any, server: Server, tmp_path: Path
) -> None:
    outcome = measure_ws(server.url, ca_file=str(tmp_path / "ca.pem"), timeout_ms=5000)

    data = outcome.data
    assert (outcome.ok, outcome.error, data["target"]["scheme"]) == (True, None, "wss")
    assert [each["text"] for each in data["messages"]] == ["hello", "hello"]
    assert (data["close"]["by"], data["stopped_by"]) == ("remote", "peer")
    assert (data["tls"]["verify"]["code"], data["tls"]["alpn"]) == (0, "http/1.1")


def test_no_handshake_of_a_websocket_is_sent_after_a_bad_certificate(measure_ws: Any, server: Server) -> None:
    outcome = measure_ws(server.url, timeout_ms=5000)

    assert (outcome.ok, outcome.error["code"]) == (False, "certificate_unknown_issuer")
    assert (outcome.data["stopped_by"], outcome.data["seen"], server.heads) == (None, 0, [])
