"""How far first and last byte are from the truth: ours, aiohttp, httpx and pycurl against a server that knows it.

    python tests/bench/bench_accuracy.py [--rounds 3] [--close-after-ms 0] [--json] [--check]

The server runs in another process and notes the monotonic time just before each send, which both processes share. It
answers in four shapes: at once after a delay, a head in two parts, a 103 before the answer, a body in five parts. A
client is asked for the moment of the first byte and of the last, as its users get them; where a client has no such
event, the nearest that it offers is taken. Rounds are interleaved, at 1, 16 and 64 in flight. `--check` fails unless
the goal is met: at 64 in flight a median error of at most 50 us and a p95 of at most 1 ms, ten times better than each
of the others. httpx is left out where it is not installed.

The server closes right behind the last byte, as most do. The kernel merges a FIN with bytes that nobody has read yet,
and what is merged has the later stamp: with `--close-after-ms` the server waits before it closes, which shows how much
that can be for a client that is too busy to read in between.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import msgspec
import pycurl

from app.clock import SystemClock
from app.measure.http import KIND
from app.measure.http1.run import run
from app.measure.http1.series import Series
from app.measure.kind import Bench
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from policy import Policy

BODY = b"measure " * 128
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\nConnection: close\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
SHAPES: dict[str, list[bytes | float]] = {
    "plain": [0.02, HEAD + BODY],
    "split": [0.02, HEAD[:30], 0.05, HEAD[30:] + BODY],
    "hints": [0.02, EARLY, 0.05, HEAD + BODY],
    "parts": [0.02, HEAD, *(part for at in range(0, 1024, 256) for part in (0.02, BODY[at : at + 256]))],
}
FLIGHTS = (1, 16, 64)
GOAL_MEDIAN_US, GOAL_P95_US, GOAL_RATIO = 50, 1000, 10

Times = tuple[int, int]
"""First and last byte, monotonic nanoseconds."""
Client = Callable[[str, list[str]], Coroutine[Any, Any, list[tuple[str, Times]]]]


async def _answer(connection: socket.socket, close_after_s: float, truth: dict[str, Times]) -> None:
    loop = asyncio.get_running_loop()
    head = b""
    while b"\r\n\r\n" not in head:
        head += await loop.sock_recv(connection, 65536)
    path = head.split(b" ")[1].decode()
    sent = []
    for step in SHAPES[path.split("/")[1]]:
        if isinstance(step, float):
            await asyncio.sleep(step)
        else:
            sent.append(time.monotonic_ns())
            connection.send(step)
    truth[path] = sent[0], sent[-1]
    if close_after_s:
        await asyncio.sleep(close_after_s)
    connection.close()


def serve(channel: Connection, close_after_s: float) -> None:
    """Answer; whenever something is received, say what is true of the requests since."""

    async def run() -> None:
        truth: dict[str, Times] = {}
        loop = asyncio.get_running_loop()
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        listener.setblocking(False)
        channel.send(listener.getsockname()[1])

        def tell() -> None:
            channel.recv()
            channel.send(dict(truth))
            truth.clear()

        loop.add_reader(channel.fileno(), tell)
        running = set()
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = loop.create_task(_answer(connection, close_after_s, truth))
            running.add(task)
            task.add_done_callback(running.discard)

    asyncio.run(run())


def _paths(flight: int, number: int) -> list[str]:
    """So many requests, numbered on from here; the shapes take turns."""
    names = list(SHAPES)
    return [f"/{names[each % len(names)]}/{each}" for each in range(number, number + flight)]


async def ours(url: str, paths: list[str]) -> list[tuple[str, Times]]:
    """This product's probe: the start of the watch and its phases."""
    clock = SystemClock()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)

    async def one(path: str) -> tuple[str, Times]:
        params = msgspec.convert({"project": "bench", "url": url + path}, KIND.params)
        bench = Bench(dialer, clock, clock.monotonic_ns() + 10**10)
        series = Series(KIND.plan(params, bench), bench)
        spent = (await run(series, bench)).data["timings"]
        hop = series.first.hops[0]
        before = sum(spent[name] or 0 for name in ("connect_ms", "send_ms", "first_byte_ms"))
        other = spent["other_ms"]
        arrivals = hop.answer.arrivals.curve(hop.phases.started_ns)
        assert before <= arrivals[0][0] <= before + other + 0.002
        return path, (
            hop.phases.started_ns + round(arrivals[0][0] * 1e6),
            hop.phases.started_ns + round(spent["total_ms"] * 1e6),
        )

    return list(await asyncio.gather(*(one(path) for path in paths)))


async def with_aiohttp(url: str, paths: list[str]) -> list[tuple[str, Times]]:
    """aiohttp with TraceConfig: the first event is the end of the head, the last one the end of the body."""
    times: dict[str, list[int]] = {}
    trace = aiohttp.TraceConfig()

    async def chunk(_session: Any, context: Any, _params: Any) -> None:
        times[context.trace_request_ctx].append(time.monotonic_ns())

    async def end(_session: Any, context: Any, _params: Any) -> None:
        times[context.trace_request_ctx].insert(0, time.monotonic_ns())

    trace.on_response_chunk_received.append(chunk)
    trace.on_request_end.append(end)
    connector = aiohttp.TCPConnector(force_close=True, limit=0)

    async with aiohttp.ClientSession(connector=connector, trace_configs=[trace]) as session:

        async def one(path: str) -> tuple[str, Times]:
            times[path] = []
            async with session.get(url + path, trace_request_ctx=path) as response:
                await response.read()
            return path, (times[path][0], times[path][-1])

        return list(await asyncio.gather(*(one(path) for path in paths)))


async def with_httpx(url: str, paths: list[str]) -> list[tuple[str, Times]]:
    """httpx with its trace extension: the end of the head, and the end of the body."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:

        async def one(path: str) -> tuple[str, Times]:
            times: dict[str, int] = {}

            async def trace(event: str, _info: Any) -> None:
                times[event] = time.monotonic_ns()

            await client.get(url + path, extensions={"trace": trace})
            head = times["http11.receive_response_headers.complete"]
            return path, (head, times["http11.receive_response_body.complete"])

        return list(await asyncio.gather(*(one(path) for path in paths)))


async def with_pycurl(url: str, paths: list[str]) -> list[tuple[str, Times]]:
    """libcurl, several at once by its multi interface: start-transfer and total time, from the moment of its start."""
    multi, handles = pycurl.CurlMulti(), {path: pycurl.Curl() for path in paths}
    begun = {}
    for path, handle in handles.items():
        handle.setopt(pycurl.URL, url + path)
        handle.setopt(pycurl.FRESH_CONNECT, 1)
        handle.setopt(pycurl.WRITEFUNCTION, len)
        multi.add_handle(handle)
        begun[path] = time.monotonic_ns()
        _, running = multi.perform()  # its watch starts now, not when it is added
    while running:
        multi.select(1.0)
        _, running = multi.perform()
    told = []
    for path, handle in handles.items():
        first, last = handle.getinfo(pycurl.STARTTRANSFER_TIME), handle.getinfo(pycurl.TOTAL_TIME)
        told.append((path, (begun[path] + round(first * 1e9), begun[path] + round(last * 1e9))))
        multi.remove_handle(handle)
        handle.close()
    return told


def _clients() -> dict[str, Client]:
    clients: dict[str, Client] = {"ours": ours, "aiohttp": with_aiohttp, "pycurl": with_pycurl}
    try:
        import httpx  # noqa: F401 - compared where it is installed
    except ImportError:
        return clients
    return {**clients, "httpx": with_httpx}


def errors_us(client: Client, url: str, paths: list[str], channel: Connection) -> dict[str, list[float]]:
    """The absolute errors of one round."""
    told = asyncio.run(client(url, paths))
    channel.send(None)
    truth: dict[str, Times] = channel.recv()
    return {
        "first": [abs(first - truth[path][0]) / 1000 for path, (first, _) in told],
        "last": [abs(last - truth[path][1]) / 1000 for path, (_, last) in told],
    }


def figures(errors: list[float]) -> dict[str, float]:
    """Median and p95 in microseconds."""
    ordered = sorted(errors)
    return {
        "p50_us": statistics.median(ordered),
        "p95_us": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
    }


def compare(url: str, rounds: int, channel: Connection) -> dict[str, Any]:
    """Interleaved rounds; as many more at few in flight, so that each figure has about as many errors behind it."""
    clients, result = _clients(), dict[str, Any]()
    for flight in FLIGHTS:
        taken: dict[str, dict[str, list[float]]] = {name: {"first": [], "last": []} for name in clients}
        for number in range(rounds * max(1, 16 // flight)):
            paths = _paths(flight, number)
            for name, client in clients.items():
                for what, errors in errors_us(client, url, paths, channel).items():
                    taken[name][what] += errors
        result[str(flight)] = {
            name: {what: figures(errors) for what, errors in each.items()} for name, each in taken.items()
        }
    return result


def misses(result: dict[str, Any]) -> list[str]:
    """Which goals are missed."""
    at_most = result[str(FLIGHTS[-1])]
    missed = []
    for what in ("first", "last"):
        mine = at_most["ours"][what]
        if mine["p50_us"] > GOAL_MEDIAN_US or mine["p95_us"] > GOAL_P95_US:
            missed.append(f"{what} byte: {mine}")
        missed += [
            f"{what} byte: {name} is only {each[what]['p50_us'] / mine['p50_us']:.1f} times worse"
            for name, each in at_most.items()
            if name != "ours" and each[what]["p50_us"] < GOAL_RATIO * mine["p50_us"]
        ]
    return missed


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description="Errors of first and last byte, compared.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--close-after-ms", type=float, default=0.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail when a goal is missed")
    arguments = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(there, arguments.close_after_ms / 1000), daemon=True
    )
    server.start()
    try:
        result = compare(f"http://127.0.0.1:{here.recv()}", arguments.rounds, here)
    finally:
        server.terminate()
        server.join()
    if arguments.json:
        print(json.dumps(result))
    else:
        for flight, clients in result.items():
            for name, errors in clients.items():
                first, last = errors["first"], errors["last"]
                print(
                    f"{flight:>2} in flight  {name:8} first p50 {first['p50_us']:9.1f} p95 {first['p95_us']:9.1f} us"
                    f"   last p50 {last['p50_us']:9.1f} p95 {last['p95_us']:9.1f} us"
                )
    missed = misses(result)
    for each in missed:
        print(f"goal missed: {each}", file=sys.stderr)
    sys.exit(1 if missed and arguments.check else 0)


if __name__ == "__main__":
    main()
