"""CPU a measurement of plain HTTP costs: ours, pycurl and aiohttp in the same run, interleaved, one loopback server.

    python tests/bench/bench_probe.py [--rounds 15] [--count 400] [--json]

Each measurement is a new connection to a server in another process that answers 1 kB and closes. CPU is that of this
process, user and system. pycurl collects headers, body and its five times, aiohttp status, headers and body; ours is
the probe with its dialer, from arguments to facts, without the store.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import io
import json
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import msgspec
import pycurl

from app.clock import SystemClock
from app.measure.http import KIND
from app.measure.kind import Bench
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from policy import Policy

BODY = b"measure " * 128
HEADERS = (
    b'Content-Type: text/plain\r\nServer: bench\r\nDate: Tue, 22 Sep 2026 08:14:03 GMT\r\nETag: "bench"\r\n'
)
ANSWER = b"HTTP/1.1 200 OK\r\n" + HEADERS + b"Content-Length: 1024\r\nConnection: close\r\n\r\n" + BODY
TIMES = (
    pycurl.NAMELOOKUP_TIME,
    pycurl.CONNECT_TIME,
    pycurl.PRETRANSFER_TIME,
    pycurl.STARTTRANSFER_TIME,
    pycurl.TOTAL_TIME,
)


def serve(ready: Connection) -> None:
    """Answer every request head with the same bytes and close; runs until it is terminated."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    ready.send(listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        with connection:
            head = piece = connection.recv(65536)
            while piece and b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                head += piece
            if piece:
                connection.sendall(ANSWER)


def ours(url: str, count: int) -> None:
    """This product's probe."""
    clock = SystemClock()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)

    async def run() -> None:
        for _ in range(count):
            params = msgspec.convert({"project": "bench", "url": url}, KIND.params)
            bench = Bench(dialer, clock, clock.monotonic_ns() + 10**10)
            outcome = await KIND.probe(KIND.plan(params, bench), bench)
            assert outcome.data["body_bytes"]["encoded"] == len(BODY)

    asyncio.run(run())


def with_pycurl(url: str, count: int) -> None:
    """libcurl, a new connection each."""
    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.FRESH_CONNECT, 1)
    handle.setopt(pycurl.FORBID_REUSE, 1)
    for _ in range(count):
        body, headers = io.BytesIO(), list[bytes]()
        handle.setopt(pycurl.WRITEFUNCTION, body.write)
        handle.setopt(pycurl.HEADERFUNCTION, headers.append)
        handle.perform()
        seconds = [handle.getinfo(each) for each in TIMES]
        assert (len(body.getvalue()), len(seconds)) == (len(BODY), 5)
    handle.close()


def with_aiohttp(url: str, count: int) -> None:
    """aiohttp's client, one session, a new connection each."""

    async def run() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            for _ in range(count):
                async with session.get(url) as response:
                    assert len(await response.read()) == len(BODY)

    asyncio.run(run())


CLIENTS: dict[str, Callable[[str, int], None]] = {
    "ours": ours,
    "pycurl": with_pycurl,
    "aiohttp": with_aiohttp,
}


def cpu_us(client: Callable[[str, int], None], url: str, count: int) -> float:
    """Microseconds of CPU a measurement."""
    gc.collect()
    began_ns = time.process_time_ns()
    client(url, count)
    return (time.process_time_ns() - began_ns) / count / 1000


def compare(url: str, rounds: int, count: int) -> dict[str, Any]:
    """Interleaved rounds after one that is thrown away; best and median, and their ratios to pycurl."""
    for client in CLIENTS.values():
        client(url, count)
    taken: dict[str, list[float]] = {name: [] for name in CLIENTS}
    for _ in range(rounds):
        for name, client in CLIENTS.items():
            taken[name].append(cpu_us(client, url, count))
    figures = {name: {"best": min(each), "median": statistics.median(each)} for name, each in taken.items()}
    for each in figures.values():
        each["best_to_pycurl"] = each["best"] / figures["pycurl"]["best"]
        each["median_to_pycurl"] = each["median"] / figures["pycurl"]["median"]
    return {"rounds": rounds, "count": count, "python": sys.version.split()[0], "cpu_us": figures}


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description="CPU of a measurement, compared.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(sender,), daemon=True)
    server.start()
    try:
        result = compare(f"http://127.0.0.1:{receiver.recv()}/", arguments.rounds, arguments.count)
    finally:
        server.terminate()
        server.join()
    if arguments.json:
        print(json.dumps(result))
        return
    for name, figures in result["cpu_us"].items():
        best, median = f"{figures['best']:6.0f}", f"{figures['median']:6.0f}"
        ratio = f"{figures['best_to_pycurl']:.2f} / {figures['median_to_pycurl']:.2f}"
        print(f"{name:8} best {best} us  median {median} us  to pycurl {ratio}")


if __name__ == "__main__":
    main()
