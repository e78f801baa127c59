"""Guarded egress: from a target to a stream, asking the policy by name before and by address after the lookup.

The rules of this file:
- Policy by name, tokens, one lookup, policy over all addresses of that answer, and only then a socket.
- What is dialled is an address of the verdict, never a name; fallback happens only among those addresses.
- The trace is filled as it happens, so that a failure keeps everything that was seen until then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from ipaddress import IPv6Address
from typing import Any

from app.clock import Clock
from app.errors import ProbeFailed
from app.net.gate import Gate, Slot
from app.net.network import Address, Answer, Channel, Network
from app.net.order import in_order
from app.net.own import OwnAddresses, OwnListeners
from app.net.phases import Phases
from app.net.refusal import checks_of, refusal
from app.net.stream import Stream, Trace
from app.net.tokens import Tokens
from app.net.trust import TlsSettings, TrustStore
from policy import Budget, Policy, Target, Verdict

TLS_SCHEMES = frozenset({"https", "wss"})
MOST_LITERALS = 1024
QUERIES = 2
"""A lookup by DNS sends at least two queries, for A and for AAAA."""


class Dialer:
    """The only way of a probe to a socket; `policy` is public so that answers can name the profile."""

    def __init__(
        self,
        policy: Policy,
        network: Network,
        clock: Clock,
        *,
        budget: Budget | None,
        max_in_flight: int,
        own_listeners: Collection[tuple[Address, int]] = frozenset(),
        trust_store: TrustStore | None = None,
    ) -> None:
        self.policy = policy
        self._network = network
        self._clock = clock
        self._budget = budget
        self._gate = Gate(max_in_flight, clock)
        self._own_listeners = own_listeners
        self._trust_store = trust_store or TrustStore()
        self._literals: dict[tuple[str, int], Verdict] = {}

    def slot(self, deadline_ns: int) -> Slot:
        """Room for one measurement: waits until the deadline, then `ToolError("busy")`."""
        return self._gate.slot(deadline_ns)

    def check(self, target: Target) -> None:
        """`PolicyRefused` for a target that needs no lookup to be refused: it need not wait for room."""
        if target.address is not None:
            own = OwnAddresses(self._network.is_own_address)
            _admit(target, 0, self._judge_literal(target, target.address, own))
            return
        decision = self.policy.decide_target(target)
        if not decision.allowed:
            raise refusal(target, 0, decision)

    async def open(
        self,
        target: Target,
        trace: Trace,
        phases: Phases,
        *,
        hop: int = 0,
        connect_timeout_s: float | None = None,
        tls: TlsSettings | None = None,
    ) -> Stream:
        """A stream to the target, with TLS for https and wss; the caller closes it.

        `PolicyRefused` before any packet to the target; `ToolError("rate_limited")` on hop 0 before any packet;
        every other failure is `ProbeFailed`. `connect_timeout_s` bounds each attempt to connect, not their sum.
        """
        tokens = Tokens(self._budget, _budget_key(target), self._clock, hop)
        addresses = await self._resolve(target, trace, phases, tokens, hop)
        if target.scheme not in TLS_SCHEMES:
            channel = await self._connect(addresses, target.port, trace, phases, tokens, connect_timeout_s)
            phases.pause()
            return channel
        trust = await self._trust_store.trust(tls or TlsSettings())
        channel = await self._connect(addresses, target.port, trace, phases, tokens, connect_timeout_s)
        from app.net.tls import shake_hands  # only a measurement over TLS needs it

        stream = await shake_hands(channel, target, trust, trace, phases, self._clock)
        phases.pause()
        return stream

    async def _resolve(
        self, target: Target, trace: Trace, phases: Phases, tokens: Tokens, hop: int
    ) -> tuple[Address, ...]:
        own = OwnAddresses(self._network.is_own_address)
        if target.address is not None:
            answer = Answer("literal", None, (), ((target.host, None),))
            verdict = self._judge_literal(target, target.address, own)
            _note_answer(trace, answer, verdict, None, own)
            _admit(target, hop, verdict)
            tokens.reserve(1)
            return verdict.addresses
        answer, ms = await self._look_up(target, trace, phases, tokens, hop)
        verdict = self._judge(target, [text for text, _ in answer.addresses], own)
        _note_answer(trace, answer, verdict, ms, own)
        _admit(target, hop, verdict)
        return in_order(verdict.addresses)

    def _judge_literal(self, target: Target, address: Address, own: OwnAddresses) -> Verdict:
        """The same verdict again for the same literal: it depends on nothing but the frozen policy.

        Unless we listen ourselves: then it depends on the interfaces of the moment.
        """
        if self._own_listeners:
            return self._judge(target, (address,), own)
        verdict = self._literals.get((target.host, target.port))
        if verdict is None:
            if len(self._literals) >= MOST_LITERALS:
                self._literals.clear()
            verdict = self._judge(target, (address,), own)
            self._literals[target.host, target.port] = verdict
        return verdict

    def _judge(self, target: Target, addresses: Sequence[Address | str], own: OwnAddresses) -> Verdict:
        # Asking which addresses are ours takes a socket, so it is asked only where the answer can depend on it.
        by_entry = target.address is None and self.policy.profile == "allowlist"
        listeners = OwnListeners(self._own_listeners, own) if self._own_listeners else ()
        return self.policy.decide_answer(
            target.host, target.port, addresses, own=own if by_entry else (), own_listeners=listeners
        )

    async def _look_up(
        self, target: Target, trace: Trace, phases: Phases, tokens: Tokens, hop: int
    ) -> tuple[Answer, float]:
        """One lookup of a name that the policy admits, and how many milliseconds it took."""
        decision = self.policy.decide_target(target)
        if not decision.allowed:
            raise refusal(target, hop, decision)
        began_ns = self._clock.monotonic_ns()
        phases.begin("resolve", began_ns)
        answer = await self._local_answer(target.host, tokens)
        if answer is None:
            if self.policy.lookup(target.host) != "dns":
                raise refusal(target, hop, self.policy.refuse_lookup(target.host))
            phases.pause()
            self._network.prepare()
            tokens.reserve(1 + QUERIES)
            began_ns = self._clock.monotonic_ns()
            phases.begin("resolve", began_ns)
            answer = await self._dns_answer(target.host, trace, tokens, began_ns)
        return answer, self._since_ms(began_ns)

    async def _local_answer(self, name: str, tokens: Tokens) -> Answer | None:
        try:
            answer = await self._network.lookup(name, "local", tokens.spend)
        except ProbeFailed:
            return None  # not known here, which is for the policy to judge
        tokens.reserve(1)
        return answer

    async def _dns_answer(self, name: str, trace: Trace, tokens: Tokens, began_ns: int) -> Answer:
        trace.resolution = {"how": "dns", "resolver": None, "ms": None, "cname": [], "addresses": []}
        try:
            return await self._network.lookup(name, "dns", tokens.spend)
        finally:
            trace.resolution["ms"] = self._since_ms(began_ns)

    async def _connect(
        self,
        addresses: Sequence[Address],
        port: int,
        trace: Trace,
        phases: Phases,
        tokens: Tokens,
        timeout_s: float | None,
    ) -> Channel:
        """The first address that connects, each attempt with a token of its own."""
        phases.begin("connect")
        last: ProbeFailed | None = None
        for address in addresses:
            tokens.spend()
            try:
                return await self._attempt(address, port, trace, phases, timeout_s)
            except ProbeFailed as error:
                last = error
        raise last or ProbeFailed("connect", "unreachable", "there is no address to connect to")

    async def _attempt(
        self, address: Address, port: int, trace: Trace, phases: Phases, timeout_s: float | None
    ) -> Channel:
        entry: dict[str, Any] = {
            "ip": str(address),
            "port": port,
            "connect_ms": None,
            "error": None,
            "used": False,
        }
        trace.attempts.append(entry)
        began_ns = self._clock.monotonic_ns()
        try:
            channel = await self._dial(address, port, phases, timeout_s)
        except ProbeFailed as error:
            entry["error"] = {"code": error.code, "message": error.message}
            if error.errno is not None:
                entry["error"]["errno"] = error.errno
            raise
        except asyncio.CancelledError:
            entry["error"] = {"code": "cancelled", "message": "stopped before it was connected"}
            raise
        finally:
            entry["connect_ms"] = self._since_ms(began_ns)
        entry["used"] = True
        trace.peer = {"address": channel.peer[0], "port": channel.peer[1], "family": _family(address)}
        trace.local = {"address": channel.local[0], "port": channel.local[1]}
        return channel

    async def _dial(self, address: Address, port: int, phases: Phases, timeout_s: float | None) -> Channel:
        if timeout_s is None:
            return await self._network.connect(address, port, phases)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._network.connect(address, port, phases)
        except TimeoutError:
            message = f"not connected within {timeout_s:g} s"
            raise ProbeFailed("connect", "timeout", message) from None

    def _since_ms(self, began_ns: int) -> float:
        return round((self._clock.monotonic_ns() - began_ns) / 1_000_000, 3)


def _budget_key(target: Target) -> str:
    """What is counted as one target: the spellings of one local address share a bucket."""
    if target.host.endswith(".localhost"):
        return f"localhost:{target.port}"
    mapped = target.address.ipv4_mapped if isinstance(target.address, IPv6Address) else None
    return target.key if mapped is None else f"{mapped}:{target.port}"


def _admit(target: Target, hop: int, verdict: Verdict) -> None:
    if not verdict.decision.allowed:
        raise refusal(target, hop, verdict.decision, verdict.checks)


def _note_answer(trace: Trace, answer: Answer, verdict: Verdict, ms: float | None, own: OwnAddresses) -> None:
    trace.rule = verdict.decision.rule
    trace.checks = checks_of(verdict.checks)
    addresses: list[dict[str, Any]] = []
    for (text, ttl_s), check in zip(answer.addresses, verdict.checks, strict=True):
        here = check.place.effective
        family = None if here is None else _family(here)
        entry: dict[str, Any] = {"ip": text, "family": family, "class": check.place.name, "ttl_s": ttl_s}
        if verdict.decision.allowed and here in own:
            entry["self"] = True
        addresses.append(entry)
    trace.resolution = {
        "how": answer.how,
        "resolver": answer.resolver,
        "ms": ms,
        "cname": list(answer.cname),
        "addresses": addresses,
    }


def _family(address: Address) -> str:
    return "ipv4" if address.version == 4 else "ipv6"
