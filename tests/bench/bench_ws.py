"""60,000 small messages a second for five seconds: ours, websockets' and aiohttp's clients, one after another.

    python tests/bench/bench_ws.py [--rate 60000] [--seconds 5] [--json] [--check]

The server runs in another process and writes a batch every 2 ms, each message with its number, then closes with 1000.
Told are the messages received, how long the client took from the first to the last, and the CPU a message. Ours is the
conversation of `facts.measure.ws` with its handshake as a hop, each message with its stamp; limits are above those of
the arguments. `--check` fails unless ours loses none, stamps each in order, and keeps up with the rate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import msgspec
import websockets
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from app.clock import SystemClock
from app.measure.http1.run import run
from app.measure.http1.series import Series
from app.measure.kind import Bench, Limits
from app.measure.websocket.arguments import WsParams
from app.measure.websocket.conversation import Conversation
from app.measure.websocket.plan import Listening, ws_plan_of
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from policy import Policy

BATCH_S = 0.002
SLACK = 1.1
"""A client keeps up that needs no more than this times the time of the server."""

Told = dict[str, Any]


def serve(ready: Connection, rate: int, seconds: float) -> None:
    """Offer the messages to each client that opens a WebSocket; runs until it is terminated."""

    async def offer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol()
        while protocol.state is not OPEN:
            protocol.receive_data(await reader.read(65536))
            for request in protocol.events_received():
                protocol.send_response(protocol.accept(request))  # type: ignore[arg-type] # the first event is the request
        writer.write(b"".join(protocol.data_to_send()))
        begun, number, total = time.monotonic(), 0, int(rate * seconds)
        while number < total:
            due = min(total, int((time.monotonic() - begun) * rate) + 1)
            writer.write(b"".join(b"\x81\x08%08d" % each for each in range(number, due)))
            number = due
            await writer.drain()
            await asyncio.sleep(BATCH_S)
        writer.write(b"\x88\x02\x03\xe8")
        await reader.read(65536)
        writer.close()

    async def run_server() -> None:
        server = await asyncio.start_server(offer, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run_server())


async def ours(url: str, total: int) -> Told:
    """This product."""
    clock = SystemClock()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)
    plan = ws_plan_of(msgspec.convert({"project": "bench", "url": url}, WsParams), Limits())
    listening = Listening(window_s=60, max_messages=total + 1, max_bytes=100_000_000)
    conversation = Conversation(listening, clock)
    bench = Bench(dialer, clock, clock.monotonic_ns() + 60 * 10**9)
    await run(Series(plan.handshake, bench, conversation), bench)
    messages = conversation.record.messages
    stamps = [each.at_ns for each in messages]
    numbers = [each.payload for each in messages]
    return {
        "received": len(messages),
        "seconds": (stamps[-1] - stamps[0]) / 1e9,
        "in_order": numbers == [f"{number:08}" for number in range(total)],
        "stamps_in_order": stamps == sorted(stamps),
    }


async def with_websockets(url: str, _total: int) -> Told:
    """websockets' client, a loop over its messages, each with a time of our own."""
    async with websockets.connect(url, proxy=None, max_queue=None, compression=None) as connection:
        times = [time.monotonic_ns() async for _ in connection]
    return {"received": len(times), "seconds": (times[-1] - times[0]) / 1e9}


async def with_aiohttp(url: str, _total: int) -> Told:
    """aiohttp's client, the same."""
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as connection:
        times = [time.monotonic_ns() async for _ in connection]
    return {"received": len(times), "seconds": (times[-1] - times[0]) / 1e9}


CLIENTS: dict[str, Callable[[str, int], Coroutine[Any, Any, Told]]] = {
    "ours": ours,
    "websockets": with_websockets,
    "aiohttp": with_aiohttp,
}


def measured(client: Callable[[str, int], Coroutine[Any, Any, Told]], url: str, total: int) -> Told:
    """What one client told, and the CPU that it took."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    told = asyncio.run(client(url, total))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rate = round(told["received"] / told["seconds"])
    return {**told, "lost": total - told["received"], "rate": rate, "cpu_us_a_message": cpu_s * 1e6 / total}


def main() -> None:
    """Parse the arguments, run, print."""
    parser = argparse.ArgumentParser(description="A fast WebSocket, heard by three clients.")
    parser.add_argument("--rate", type=int, default=60_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail when ours misses the goal")
    arguments = parser.parse_args()
    total = int(arguments.rate * arguments.seconds)
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(sender, arguments.rate, arguments.seconds), daemon=True
    )
    process.start()
    try:
        url = f"ws://127.0.0.1:{receiver.recv()}/"
        result = {name: measured(client, url, total) for name, client in CLIENTS.items()}
    finally:
        process.terminate()
        process.join()
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, told in result.items():
            print(
                f"{name:10} received {told['received']:7} lost {told['lost']:6}  {told['seconds']:5.2f} s"
                f"  {told['rate']:6} a second  {told['cpu_us_a_message']:5.1f} us CPU a message"
            )
    mine = result["ours"]
    met = not mine["lost"] and mine["in_order"] and mine["stamps_in_order"]
    met = met and mine["seconds"] <= arguments.seconds * SLACK
    if not met:
        print(f"goal missed: {mine}", file=sys.stderr)
    sys.exit(0 if met or not arguments.check else 1)


if __name__ == "__main__":
    main()
