"""A10 at the dialer: proxies, netrc, TLS and resolver variables of the environment change nothing (xagent#2103)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = """
import asyncio, json, sys
from app.clock import SystemClock
from app.errors import ProbeFailed
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from policy import Policy, parse_url

async def main(url):
    clock, trace = SystemClock(), Trace()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)
    try:
        stream = await dialer.open(parse_url(url), trace, Phases(clock))
        await stream.send(b"GET / HTTP/1.1\\r\\n\\r\\n")
        received = (await stream.receive()).decode()
        stream.close()
    except ProbeFailed as error:
        received = error.code
    print(json.dumps([received, trace.peer["port"], trace.tls and trace.tls["verify"]["store"]]))

asyncio.run(main(sys.argv[1]))
"""


def measured(url: str, more: dict[str, str]) -> list[Any]:
    """What a process with these variables measures at the URL."""
    root = str(Path(__file__).parents[2])
    clean = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, url], capture_output=True, text=True, timeout=60, env={**clean, **more}
    )
    assert done.returncode == 0, done.stderr
    told: list[Any] = json.loads(done.stdout)
    return told


def test_a10_proxies_and_netrc_are_not_used(byte_server: Any, tmp_path: Path) -> None:
    proxy = byte_server([["read", b"proxied", "eof"]])
    server = byte_server([["read", b"direct", "eof"]])
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login canary password canary\n")
    names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    variables = {**dict.fromkeys(names, proxy.url), "NO_PROXY": "", "NETRC": str(tmp_path / "netrc")}

    told = measured(server.url, variables)

    assert (told, proxy.connections) == (["direct", server.port, None], 0)
    assert server.requests == [b"GET / HTTP/1.1\r\n\r\n"]


def test_a10_resolver_variables_do_not_change_what_a_name_is(byte_server: Any, tmp_path: Path) -> None:
    server = byte_server([["read", b"direct", "eof"]])
    (tmp_path / "aliases").write_text("localhost evil.test\n")
    variables = {
        "RES_OPTIONS": "ndots:9",
        "LOCALDOMAIN": "evil.test",
        "HOSTALIASES": str(tmp_path / "aliases"),
    }

    assert measured(f"http://localhost:{server.port}/", variables) == ["direct", server.port, None]


def test_a10_tls_variables_choose_no_store_and_write_no_keys(byte_server: Any, tmp_path: Path) -> None:
    server = byte_server([[b"HTTP, not TLS", "hang"]])
    url = server.url.replace("http:", "https:")
    (tmp_path / "ca.pem").write_text("not a certificate")
    keys = tmp_path / "keys.log"
    variables = {
        "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
        "SSL_CERT_DIR": str(tmp_path),
        "SSLKEYLOGFILE": str(keys),
    }

    assert measured(url, variables) == measured(url, {})
    assert not keys.exists()
