"""A network that plays back a script: the public test double for everything that measures, opens no socket.

    network = ScriptedNetwork(
        names={"svc.test": [["10.1.2.3"], ["127.0.0.1"]]},       # the first lookup, then every further one
        peers={("10.1.2.3", 80): [b"HTTP/1.1 204 No Content\\r\\n\\r\\n", "eof"]},
    )

Afterwards `network.asked` are the names that were asked by DNS, `network.dialled` the addresses that were dialled, and
`network.received` what each connection was sent. "No packet" is `network.asked == [] and network.dialled == []`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from ipaddress import ip_address
from typing import Literal

from app.clock import Clock
from app.errors import ProbeErrorCode, ProbeFailed
from app.net.hosts import LOCALHOST, is_localhost
from app.net.network import Address, Answer, Spend
from app.net.phases import Phases

Step = bytes | Literal["eof", "reset", "silence", "refused", "unreachable", "timeout", "self_connect"]
"""Bytes are what one `receive` returns; `eof` and `reset` end the stream; `silence` waits for ever.

The last four are what connecting fails with, as the first step of a peer.
"""

LookupFailure = Literal["name_not_found", "resolver_failed", "timeout"]
_CONNECT_FAILURES: Mapping[object, ProbeErrorCode] = {
    "refused": "refused",
    "unreachable": "unreachable",
    "timeout": "timeout",
    "self_connect": "self_connect",
}


class ScriptedNetwork:
    """`Network` from tables; an address that is not listed refuses the connection.

    `names` are answered by DNS and `hosts` by the hosts file: for each name a sequence of answers, one a lookup, the
    last one for good; instead of its addresses an answer may be the code of a failure. An address may be any text.
    `own` are the addresses of the interfaces.
    """

    def __init__(
        self,
        names: Mapping[str, Sequence[Sequence[str] | LookupFailure]] | None = None,
        peers: Mapping[tuple[str, int], Sequence[Step]] | None = None,
        *,
        clock: Clock,
        hosts: Mapping[str, Sequence[Sequence[str]]] | None = None,
        own: Collection[str] = (),
        ttl_s: int = 60,
    ) -> None:
        self.asked: list[str] = []
        self.dialled: list[tuple[str, int]] = []
        self.channels: list[ScriptedChannel] = []
        self._names = dict(names or {})
        self._hosts = dict(hosts or {})
        self._peers = dict(peers or {})
        self._clock = clock
        self._own = frozenset(own)
        self._ttl_s = ttl_s
        self._turns: dict[tuple[str, str], int] = {}

    @property
    def received(self) -> list[bytes]:
        """What each connection was sent, in the order of the connections."""
        return [bytes(channel.sent) for channel in self.channels]

    def is_own_address(self, address: Address) -> bool:
        """See `Network`."""
        return str(address) in self._own

    def prepare(self) -> None:
        """See `Network`."""

    async def lookup(self, name: str, how: Literal["local", "dns"], spend: Spend) -> Answer:
        """See `Network`; a lookup by DNS spends two tokens, as A and AAAA do."""
        if how == "local":
            return self._local(name)
        spend()
        spend()
        self.asked.append(name)
        given = self._turn("dns", name, self._names.get(name, ["name_not_found"]))
        if isinstance(given, str):
            raise ProbeFailed("resolve", _failure(given), f"scripted: {given}")
        return Answer("dns", "scripted", (), tuple((text, self._ttl_s) for text in given))

    async def connect(
        self, address: Address, port: int, phases: Phases, source: Address | None = None
    ) -> ScriptedChannel:
        """See `Network`."""
        self.dialled.append((str(address), port))
        steps = self._peers.get((str(address), port), ("refused",))
        if steps and steps[0] in _CONNECT_FAILURES:
            raise ProbeFailed("connect", _CONNECT_FAILURES[steps[0]], f"scripted: {steps[0]!r}")
        local = (str(source or ip_address("127.0.0.1")), 49152 + len(self.channels))
        channel = ScriptedChannel((str(address), port), local, steps, self._clock, phases)
        self.channels.append(channel)
        return channel

    def _local(self, name: str) -> Answer:
        given = LOCALHOST if is_localhost(name) else self._turn("hosts", name, self._hosts.get(name, [()]))
        if not given:
            raise ProbeFailed("resolve", "name_not_found", "scripted: not a local name")
        return Answer("hosts", None, (), tuple((text, None) for text in given))

    def _turn(self, table: str, name: str, answers: Sequence[Sequence[str]]) -> Sequence[str]:
        turn = self._turns.get((table, name), 0)
        self._turns[table, name] = turn + 1
        return answers[min(turn, len(answers) - 1)]


def _failure(text: str) -> ProbeErrorCode:
    codes: Mapping[str, ProbeErrorCode] = {
        "name_not_found": "name_not_found",
        "resolver_failed": "resolver_failed",
        "timeout": "timeout",
    }
    return codes[text]


class ScriptedChannel:
    """`Channel` that plays the steps of one peer; `sent` is what it was sent, `closed` how it ended on our side."""

    def __init__(
        self,
        peer: tuple[str, int],
        local: tuple[str, int],
        steps: Sequence[Step],
        clock: Clock,
        phases: Phases,
    ) -> None:
        self.peer = peer
        self.local = local
        self.sent = bytearray()
        self.closed: Literal["close", "abort"] | None = None
        self.bytes_sent = 0
        self.bytes_received = 0
        self.received_ns = 0
        self.receive_clock: Literal["kernel", "user"] = "user"
        self.late_ns = 0
        self.ended_by_peer: Literal["fin", "reset", "close_notify"] | None = None
        self._steps = list(steps)
        self._is_reset = False
        self._clock = clock
        self._phases = phases

    async def send(self, data: bytes) -> None:
        """See `Stream`; fails once the script has played a reset, or this end is closed."""
        if self.closed or self._is_reset:
            raise ProbeFailed(self._phases.current or "send", "reset", "scripted: reset")
        self.sent += data
        self.bytes_sent += len(data)

    async def receive(self) -> bytes:
        """See `Stream`; the end of the script is the end of the stream."""
        step: Step = self._steps[0] if self._steps and not self.closed else "eof"
        if isinstance(step, bytes):
            return self._arrive(step)
        if step == "reset":
            self._is_reset = True
            self.ended_by_peer = "reset"
            raise ProbeFailed(self._phases.current or "body", "reset", "scripted: reset")
        if step == "silence":
            await asyncio.get_running_loop().create_future()
        self.received_ns = self._clock.monotonic_ns()
        self.ended_by_peer = "fin"
        return b""

    def pending(self) -> bytes:
        """See `Stream`."""
        pieces = []
        while self._steps and not self.closed and isinstance(step := self._steps[0], bytes):
            pieces.append(self._arrive(step))
        return b"".join(pieces)

    def tcp_info(self) -> dict[str, int] | None:
        """See `Stream`: there is no kernel to ask."""
        return None

    def close(self) -> None:
        """See `Stream`."""
        self.closed = self.closed or "close"

    def abort(self) -> None:
        """See `Channel`."""
        self.closed = self.closed or "abort"

    def _arrive(self, data: bytes) -> bytes:
        del self._steps[0]
        self.received_ns = self._clock.monotonic_ns()
        self.bytes_received += len(data)
        return data
