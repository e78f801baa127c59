"""CPU and rate of measuring plain HTTP: ours, pycurl, aiohttp and blackbox_exporter, interleaved in the same run.

    python tests/bench/bench_probe.py [--rounds 9] [--count 384] [--blackbox PATH] [--json] [--check]

Each measurement is a new connection to a server in another process that answers 1 kB and closes, with 1, 16 and 64 in
flight. CPU is that of the process that measures, user and system. pycurl collects headers, body and its five times, by
its multi interface when there is more than one; aiohttp status, headers and body; ours is the probe with its dialer,
from arguments to facts, without the store. Prometheus' blackbox_exporter, where it is installed, runs with one core and
is asked over kept connections, as Prometheus does. Ratios are medians of the ratios of each round. `--check` fails when
ours takes more than 1.3 times the CPU of pycurl, or measures less than twice what blackbox_exporter does a core.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import io
import json
import multiprocessing
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
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
FLIGHTS = (1, 16, 64)
PYCURL_AT_MOST, BLACKBOX_AT_LEAST = 1.3, 2.0
BLACKBOX = "prometheus-blackbox-exporter"
BLACKBOX_MODULES = {"http_2xx": {"prober": "http", "http": {"preferred_ip_protocol": "ip4"}}}

Client = Callable[[str, int, int], None]
"""Measures a URL so many times with so many in flight; raises when an answer is not the right one."""


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


async def repeat(once: Callable[[], Awaitable[None]], count: int, flight: int) -> None:
    """Await `once` so many times, so many of them at any moment."""

    async def some() -> None:
        for _ in range(count // flight):
            await once()

    await asyncio.gather(*(some() for _ in range(flight)))


def ours(url: str, count: int, flight: int) -> None:
    """This product's probe."""
    clock = SystemClock()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)

    async def once() -> None:
        params = msgspec.convert({"project": "bench", "url": url}, KIND.params)
        bench = Bench(dialer, clock, clock.monotonic_ns() + 10**10)
        outcome = await KIND.probe(KIND.plan(params, bench), bench)
        assert outcome.data["body_bytes"]["encoded"] == len(BODY)

    asyncio.run(repeat(once, count, flight))


class Transfer:
    """One handle of libcurl, used again and again, a new connection each time."""

    def __init__(self, url: str) -> None:
        self.handle = pycurl.Curl()
        self.handle.setopt(pycurl.URL, url)
        self.handle.setopt(pycurl.FRESH_CONNECT, 1)
        self.handle.setopt(pycurl.FORBID_REUSE, 1)

    def begin(self) -> None:
        self.body, self.headers = io.BytesIO(), list[bytes]()
        self.handle.setopt(pycurl.WRITEFUNCTION, self.body.write)
        self.handle.setopt(pycurl.HEADERFUNCTION, self.headers.append)

    def end(self) -> None:
        seconds = [self.handle.getinfo(each) for each in TIMES]
        assert (len(self.body.getvalue()), len(seconds)) == (len(BODY), 5)


def with_pycurl(url: str, count: int, flight: int) -> None:
    """libcurl, by its easy interface or, when there is more than one in flight, by the multi interface."""
    if flight > 1:
        with_multi(url, count, flight)
        return
    transfer = Transfer(url)
    for _ in range(count):
        transfer.begin()
        transfer.handle.perform()
        transfer.end()
    transfer.handle.close()


def with_multi(url: str, count: int, flight: int) -> None:
    """libcurl with several transfers at once."""
    multi, todo = pycurl.CurlMulti(), count
    transfers = {each.handle: each for each in (Transfer(url) for _ in range(flight))}
    idle = list(transfers.values())
    running = 0
    while todo or running:
        while idle and todo:
            transfer = idle.pop()
            transfer.begin()
            multi.add_handle(transfer.handle)
            todo -= 1
        _, running = multi.perform()
        _, ended, failed = multi.info_read(flight)
        assert not failed
        for handle in ended:
            transfers[handle].end()
            multi.remove_handle(handle)
            idle.append(transfers[handle])
        if running and not ended:
            multi.select(1.0)
    for handle in transfers:
        handle.close()


def with_aiohttp(url: str, count: int, flight: int) -> None:
    """aiohttp's client, one session, a new connection each."""

    async def run() -> None:
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def once() -> None:
                async with session.get(url) as response:
                    assert len(await response.read()) == len(BODY)

            await repeat(once, count, flight)

    asyncio.run(run())


def asking(exporter: str) -> Client:
    """A client that asks the exporter for its measurements, over kept connections."""

    def with_blackbox(url: str, count: int, flight: int) -> None:
        async def run() -> None:
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector) as session:

                async def once() -> None:
                    async with session.get(
                        exporter, params={"module": "http_2xx", "target": url}
                    ) as response:
                        assert b"\nprobe_success 1\n" in await response.read()

                await repeat(once, count, flight)

        asyncio.run(run())

    return with_blackbox


@contextmanager
def blackbox(program: str | None) -> Iterator[tuple[str, int] | None]:
    """The exporter's address for measurements and its process, or None where it is not installed."""
    if program is None:
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as configuration:
        json.dump({"modules": BLACKBOX_MODULES}, configuration)
        configuration.flush()
        options = [
            f"--config.file={configuration.name}",
            f"--web.listen-address={place}",
            "--log.level=error",
        ]
        process = subprocess.Popen([program, *options], env={"GOMAXPROCS": "1"})
        try:
            wait_for(place)
            yield f"http://{place}/probe", process.pid
        finally:
            process.terminate()
            process.wait(10)


def wait_for(place: str) -> None:
    """Return as soon as somebody listens there, ten seconds at most."""
    host, _, port = place.partition(":")
    for _ in range(200):
        try:
            socket.create_connection((host, int(port)), 1).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"nothing listens at {place}")


def cpu_ns(process: int) -> int:
    """CPU that a process, 0 for this one, has used until now: clock_getcpuclockid(3), which Python does not offer."""
    return time.process_time_ns() if process == 0 else time.clock_gettime_ns((~process << 3) | 2)


def one_round(client: Client, process: int, url: str, count: int, flight: int) -> tuple[float, float]:
    """Microseconds of CPU a measurement, and measurements a second."""
    gc.collect()
    began_ns, began_cpu_ns = time.monotonic_ns(), cpu_ns(process)
    client(url, count, flight)
    spent_ns, elapsed_ns = cpu_ns(process) - began_cpu_ns, time.monotonic_ns() - began_ns
    return spent_ns / count / 1000, count * 1e9 / elapsed_ns


def compare(clients: dict[str, tuple[Client, int]], url: str, rounds: int, count: int) -> dict[str, Any]:
    """Interleaved rounds after one that is thrown away, for each number in flight."""
    told = {}
    for flight in FLIGHTS:
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
        for number in range(rounds + 1):
            for name, (client, process) in clients.items():
                figures = one_round(client, process, url, count, flight)
                if number:
                    taken[name].append(figures)
        told[str(flight)] = {name: summary(each, taken["ours"]) for name, each in taken.items()}
    return told


def summary(taken: list[tuple[float, float]], mine: list[tuple[float, float]]) -> dict[str, float]:
    """Best and median CPU, the median rate, and how many times as much ours takes."""
    cpu = [each for each, _ in taken]
    return {
        "cpu_best_us": min(cpu),
        "cpu_median_us": statistics.median(cpu),
        "a_second": statistics.median(rate for _, rate in taken),
        "ours_to_this": statistics.median(own / each for (own, _), each in zip(mine, cpu, strict=True)),
    }


def misses(told: dict[str, Any]) -> list[str]:
    """Which goals are missed."""
    missed = []
    for flight, clients in told.items():
        to_pycurl = clients["pycurl"]["ours_to_this"]
        if to_pycurl > PYCURL_AT_MOST:
            missed.append(f"{flight} in flight: {to_pycurl:.2f} times the CPU of pycurl")
        if "blackbox" in clients and 1 / clients["blackbox"]["ours_to_this"] < BLACKBOX_AT_LEAST:
            ratio = 1 / clients["blackbox"]["ours_to_this"]
            missed.append(f"{flight} in flight: {ratio:.2f} times what blackbox_exporter measures a core")
    return missed


def show(told: dict[str, Any]) -> None:
    """A table for people."""
    for flight, clients in told.items():
        for name, figures in clients.items():
            print(
                f"{flight:>2} in flight  {name:8} CPU best {figures['cpu_best_us']:5.0f}"
                f"  median {figures['cpu_median_us']:5.0f} us  {figures['a_second']:5.0f} a second"
                f"  CPU of ours to it {figures['ours_to_this']:.2f}"
            )


def run(arguments: argparse.Namespace, url: str) -> dict[str, Any]:
    """Compare all clients that are here."""
    clients: dict[str, tuple[Client, int]] = {
        "ours": (ours, 0),
        "pycurl": (with_pycurl, 0),
        "aiohttp": (with_aiohttp, 0),
    }
    with blackbox(arguments.blackbox) as exporter:
        if exporter is not None:
            clients["blackbox"] = asking(exporter[0]), exporter[1]
        return compare(clients, url, arguments.rounds, arguments.count)


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description="CPU and rate of measuring, compared.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=384, help="measurements a round, a multiple of 64")
    parser.add_argument("--blackbox", default=shutil.which(BLACKBOX), help="path of blackbox_exporter")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail when a goal is missed")
    arguments = parser.parse_args()
    if arguments.count % FLIGHTS[-1]:
        parser.error(f"--count must be a multiple of {FLIGHTS[-1]}")
    receiver, sender = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(sender,), daemon=True)
    server.start()
    try:
        told = run(arguments, f"http://127.0.0.1:{receiver.recv()}/")
    finally:
        server.terminate()
        server.join()
    if arguments.json:
        machine = {"rounds": arguments.rounds, "count": arguments.count, "python": sys.version.split()[0]}
        print(json.dumps({**machine, "in_flight": told}))
    else:
        show(told)
    missed = misses(told)
    for each in missed:
        print(f"goal missed: {each}", file=sys.stderr)
    sys.exit(1 if missed and arguments.check else 0)


if __name__ == "__main__":
    main()
