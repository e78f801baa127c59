"""Runs inside `unshare -rn`: puts addresses on lo, listens on them, dials what stdin asks for, and tells what came.

In:  {"addresses": [...], "port_range": "a b" or null, "calls": [{profile, allow, hosts: {name: [ip…]}, url} …]}
Out: one list entry a call: {"outcome": connected|<code>, "peer", "details", "tally": [addresses that were met]}
A `{port}` in allow and url becomes the port on which every address listens. Nothing can leave: the namespace has no
other interface.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import select
import socket
import struct
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from app.clock import SystemClock
from app.errors import ProbeFailed, ToolError
from app.net.dialer import Dialer
from app.net.phases import Phases
from app.net.sockets import SocketNetwork
from app.net.stream import Trace
from policy import Policy, TargetError, parse_url

SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK, IFF_UP = 0x8914, 0x8916, 0x891C, 1


def bring_up() -> None:
    """Switch lo on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def put_on_lo(number: int, address: str) -> None:
    """Give lo one more address."""
    if ":" in address:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
            packed = socket.inet_pton(socket.AF_INET6, address)
            fcntl.ioctl(control, SIOCSIFADDR, struct.pack("16sIi", packed, 128, socket.if_nametoindex("lo")))
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name = f"lo:{number}".encode()
        for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.255.255.255")):
            packed = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(control, request, packed)


def bound(address: str, port: int, family: int) -> socket.socket:
    """A listener; an IPv6 address is ready only a moment after it has been given."""
    for _ in range(500):
        try:
            return socket.create_server((address, port), family=family, backlog=64)
        except OSError:
            select.select([], [], [], 0.01)
    raise AssertionError(f"{address} cannot be listened on")


SCHEMES = ("http", "https", "ws", "wss")


def listen(addresses: list[str]) -> dict[str, socket.socket]:
    """A listener on each address, all on one port."""
    listeners: dict[str, socket.socket] = {}
    port = 0
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = bound(address, port, family)
        listener.setblocking(False)
        port = port or listener.getsockname()[1]
        listeners[address] = listener
    return listeners


def tally(listeners: dict[str, socket.socket]) -> list[str]:
    """The addresses that have been connected to since the last time."""
    met = []
    for address, listener in listeners.items():
        while True:
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                break
            connection.close()
            met.append(address)
    return met


async def dial(call: dict[str, Any], hosts_path: str) -> dict[str, Any]:
    """One `open` under the policy of the call."""
    clock = SystemClock()
    trace = Trace()
    network = SocketNetwork(clock, hosts_path=hosts_path, resolv_conf_path="/nonexistent")
    try:
        policy = Policy.parse(call["profile"], call.get("allow", ""))
        dialer = Dialer(policy, network, clock, budget=None, max_in_flight=0)
        stream = await dialer.open(parse_url(call["url"], SCHEMES), trace, Phases(clock))
    except TargetError as error:
        return {"outcome": error.reason_code}
    except ToolError as error:
        return {"outcome": error.code, "details": error.details}
    except ProbeFailed as error:
        return {"outcome": error.code, "resolution": trace.resolution, "attempts": trace.attempts}
    stream.close()
    return {"outcome": "connected", "peer": trace.peer, "resolution": trace.resolution}


async def connect_unguarded(call: dict[str, Any], port: int) -> dict[str, Any]:
    """What the sockets under the dialer say to an address that the policy would never let through."""
    clock = SystemClock()
    try:
        await SocketNetwork(clock).connect(
            ip_address(call["unguarded"]), call.get("port", port), Phases(clock)
        )
    except ProbeFailed as error:
        return {"outcome": error.code}
    return {"outcome": "connected"}


def main() -> None:
    """Read what is asked, answer it."""
    asked = json.load(sys.stdin)
    bring_up()
    for number, address in enumerate(asked["addresses"]):
        if address not in ("127.0.0.1", "::1"):
            put_on_lo(number, address)
    listeners = listen(asked["addresses"])
    port = next(iter(listeners.values())).getsockname()[1]
    if asked.get("port_range"):
        Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(asked["port_range"])
    json.dump([answer(call, port, listeners) for call in asked["calls"]], sys.stdout)


def answer(call: dict[str, Any], port: int, listeners: dict[str, socket.socket]) -> dict[str, Any]:
    """One call, and which listeners it met."""
    filled = {
        key: text.replace("{port}", str(port)) if isinstance(text, str) else text
        for key, text in call.items()
    }
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
        for name, addresses in call.get("hosts", {}).items():
            hosts.writelines(f"{address} {name}\n" for address in addresses)
        hosts.flush()
        told = asyncio.run(dial(filled, hosts.name) if "url" in filled else connect_unguarded(filled, port))
    return {**told, "tally": tally(listeners)}


if __name__ == "__main__":
    main()
