"""C05: a small compressed body costs little, whatever it would grow to."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from typing import Any

import pytest

MIB = 1_048_576
MEASURED_APART = """
import asyncio, json, sys, time, msgspec
from app.clock import SystemClock
from app.measure.http import KIND
from app.measure.kind import Bench
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from policy import Policy

clock = SystemClock()
dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)

def peak_kib():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def measure(url):
    arguments = {"project": "p", "url": url, "max_body_bytes": 1048576, "follow_redirects": True}
    bench = Bench(dialer, clock, clock.monotonic_ns() + 10**10)
    return asyncio.run(KIND.probe(KIND.plan(msgspec.convert(arguments, KIND.params), bench), bench))

measure(sys.argv[1])
before_kib, began_ns = peak_kib(), clock.monotonic_ns()
outcome = measure(sys.argv[2])
seconds = (clock.monotonic_ns() - began_ns) / 1e9
sizes, hops = outcome.data["body_bytes"], [hop["body_bytes"] for hop in outcome.data["hops"]]
print(json.dumps({
    "grown_kib": peak_kib() - before_kib, "seconds": seconds, "ok": outcome.ok, "error": outcome.error,
    "status": outcome.data["http_status"], "sizes": sizes, "hops": hops, "truncated": outcome.data["truncated"],
}))
"""


def bomb(wbits: int, mib: int = 100) -> bytes:
    deflater = zlib.compressobj(9, wbits=wbits)
    return b"".join(deflater.compress(bytes(MIB)) for _ in range(mib)) + deflater.flush()


def answer(body: bytes, coding: str, *lines: str, status: int = 200) -> list[Any]:
    headers = "".join(f"{line}\r\n" for line in lines)
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Encoding: {coding}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return ["read", head.encode() + body, "eof"]


def measured_apart(warm_up: str, url: str) -> dict[str, Any]:
    command = [sys.executable, "-c", MEASURED_APART, warm_up, url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


@pytest.mark.parametrize(
    ("coding", "wbits"),
    [("gzip", zlib.MAX_WBITS | 16), ("deflate", zlib.MAX_WBITS), ("deflate", -zlib.MAX_WBITS)],
    ids=["gzip", "deflate", "deflate without header"],
)
def test_c05_a_bomb_is_cut_and_costs_little(byte_server: Any, coding: str, wbits: int) -> None:
    packed = bomb(wbits)
    server = byte_server([answer(packed[:10], coding), answer(packed, coding)])

    facts = measured_apart(server.url, server.url)

    assert (facts["ok"], facts["error"], facts["status"], facts["truncated"]) == (True, None, 200, True)
    assert (facts["sizes"]["encoded"], facts["sizes"]["decoded_at_least"]) == (len(packed), True)
    assert facts["sizes"]["decoded"] >= 10 * MIB
    assert facts["grown_kib"] < 20 * 1024
    assert facts["seconds"] < 2


def test_c05_the_bomb_in_a_redirect_is_hardly_touched(byte_server: Any) -> None:
    packed = bomb(zlib.MAX_WBITS | 16)
    moved = answer(packed, "gzip", "Location: /next", status=302)
    server = byte_server([answer(b"", "gzip"), moved, answer(b"", "gzip")])

    facts = measured_apart(server.url, server.url)

    assert (facts["ok"], facts["error"], facts["status"]) == (True, None, 200)
    assert facts["hops"][0]["encoded"] == len(packed)
    assert facts["hops"][0]["decoded"] < MIB
    assert facts["grown_kib"] < 20 * 1024


def test_c05_a_chain_of_thirty_codings_is_a_protocol_error_with_its_status(
    measure_http: Any, byte_server: Any
) -> None:
    server = byte_server([answer(b"abc", ", ".join(["gzip"] * 30))])

    outcome = measure_http(server.url)

    assert (outcome.ok, outcome.data["http_status"]) == (True, 200)
    assert (outcome.error["code"], outcome.error["phase"]) == ("protocol_error", "body")


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_c05_what_we_did_not_offer_stays_encoded(measure_http: Any, byte_server: Any, coding: str) -> None:
    server = byte_server([answer(b"abc", coding)])

    outcome = measure_http(server.url)

    assert (outcome.error, outcome.data["body"], outcome.data["body_encoding"]) == (None, "YWJj", "base64")
    assert outcome.data["body_bytes"]["decoded"] is None


def test_c05_an_endless_body_ends_at_the_read_limit(measure_http: Any, byte_server: Any) -> None:
    server = byte_server([["read", b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65_536] * 100, "hang"]])

    outcome = measure_http(server.url, read_limit_bytes=100_000, max_body_bytes=10)

    assert (outcome.ok, outcome.error["code"], outcome.data["complete"]) == (True, "too_large", False)
    assert (outcome.data["body"], outcome.data["body_bytes"]["encoded"]) == ("x" * 10, 100_000)
