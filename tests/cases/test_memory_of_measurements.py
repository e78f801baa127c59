"""What measuring costs in memory: many TLS measurements at once, and a small body that would grow large."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

MIB = 1_048_576
AT_ONCE = 64
SERVER = """
import asyncio, ssl, sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
BODY = b"x" * 1024
ANSWER = b"HTTP/1.1 200 OK\\r\\nContent-Length: 1024\\r\\n\\r\\n" + BODY
arrived, everybody = 0, asyncio.Event()

async def serve(reader, writer):
    global arrived
    await reader.readuntil(b"\\r\\n\\r\\n")
    arrived += 1
    if arrived == int(sys.argv[2]):
        everybody.set()
    await everybody.wait()
    writer.write(ANSWER)
    await reader.read()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""
CLIENT = """
import asyncio, json, sys, msgspec
from app.clock import SystemClock
from app.measure.http import KIND
from app.measure.kind import Bench
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from app.net.trust import TrustStore
from policy import Policy

given = json.loads(sys.argv[1])
clock = SystemClock()
network, trust = SocketNetwork(clock), TrustStore(given["ca_file"])
dialer = Dialer(Policy.parse("loopback"), network, clock, budget=None, max_in_flight=0, trust_store=trust)

def kib(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

async def measure(arguments):
    bench = Bench(dialer, clock, clock.monotonic_ns() + 60 * 10**9)
    return await KIND.probe(KIND.plan(msgspec.convert(arguments, KIND.params), bench), bench)

async def measure_all(arguments, times):
    return await asyncio.gather(*[measure(arguments) for _ in range(times)])

if given["warm_up"]:
    asyncio.run(measure(given["warm_up"]))
before = kib("VmRSS")
outcomes = asyncio.run(measure_all(given["arguments"], given["times"]))
peak = kib("VmHWM")
print(json.dumps({
    "peak": peak * 1024,
    "grown": (peak - before) * 1024,
    "statuses": [outcome.data["http_status"] for outcome in outcomes],
    "errors": [outcome.error for outcome in outcomes],
    "body_bytes": outcomes[0].data["body_bytes"],
}))
"""


def measured_apart(
    arguments: dict[str, Any],
    times: int = 1,
    warm_up: dict[str, Any] | None = None,
    ca_file: str | None = None,
) -> dict[str, Any]:
    """What a process of its own needed at its peak to measure, and what it saw."""
    given = {"arguments": arguments, "times": times, "warm_up": warm_up, "ca_file": ca_file}
    command = [sys.executable, "-c", CLIENT, json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


@pytest.fixture
def holding_server(tmp_path: Path) -> Iterator[str]:
    """The URL of a TLS server in another process that answers nobody before all have asked."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    pem = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
    command = [sys.executable, "-c", SERVER, str(pem), str(AT_ONCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"https://127.0.0.1:{int(process.stdout.readline())}/"
        process.terminate()


def answer(body: bytes) -> list[Any]:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    return ["read", head.encode() + body, "eof"]


def packed(mib: int) -> bytes:
    deflater = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join(deflater.compress(bytes(MIB)) for _ in range(mib)) + deflater.flush()


def test_sixty_four_tls_measurements_at_once_stay_below_sixty_megabytes(
    holding_server: str, tmp_path: Path
) -> None:
    arguments = {"project": "p", "url": holding_server, "timeout_ms": 60_000}

    facts = measured_apart(arguments, AT_ONCE, ca_file=str(tmp_path / "ca.pem"))

    assert (facts["statuses"], facts["errors"]) == ([200] * AT_ONCE, [None] * AT_ONCE)
    assert facts["peak"] < 60_000_000


def test_a_gzip_that_grows_to_sixty_four_mebibytes_costs_less_than_ten_megabytes(byte_server: Any) -> None:
    body = packed(64)
    server = byte_server([answer(packed(0)), answer(body)])
    arguments = {"project": "p", "url": server.url}

    facts = measured_apart(arguments, warm_up=arguments)

    assert (facts["statuses"], facts["errors"]) == ([200], [None])
    assert facts["body_bytes"]["encoded"] == len(body) < 66_000
    assert facts["grown"] < 10_000_000
