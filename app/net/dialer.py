"""Guarded egress: from a target to a stream, asking the policy by name before and by address after the lookup.

The rules of this file:
- Policy by name, tokens, one lookup, policy over all addresses of that answer, and only then a socket.
- What is dialled is an address of the verdict, never a name; fallback happens only among those addresses.
- The trace is filled as it happens, so that a failure keeps everything that was seen until then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from app.clock import Clock
from app.errors import PolicyRefused, ProbeFailed
from app.net.attempt import Attempts, family_of
from app.net.gate import Gate, Slot
from app.net.load import Load
from app.net.network import Address, Answer, Network
from app.net.order import in_order
from app.net.own import OwnAddresses, OwnListeners
from app.net.phases import Phases
from app.net.refusal import checks_of, refusal
from app.net.stream import Stream, Trace
from app.net.tokens import Tokens
from app.net.trust import TrustStore
from app.net.visit import Place, Route, Visit
from policy import Budget, Check, Decision, Policy, Target, Verdict

TLS_SCHEMES = frozenset({"https", "wss"})
MOST_LITERALS = 1024
QUERIES = 2
"""A lookup by DNS sends at least two queries, for A and for AAAA."""


class Dialer:
    """The only way of a probe to a socket; `policy` and `load` are public, because answers name them."""

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
        self._attempts = Attempts(network, clock)
        self.load = Load(clock)
        self._clock = clock
        self._budget = budget
        self._gate = Gate(max_in_flight, clock)
        self._own_listeners = own_listeners
        self._trust_store = trust_store or TrustStore()
        self._literals: dict[tuple[str, int], Verdict] = {}

    def slot(self, deadline_ns: int) -> Slot:
        """Room for one measurement: waits until the deadline, then `ToolError("busy")`."""
        return self._gate.slot(deadline_ns)

    def check(self, target: Target, visit: Visit | None = None) -> None:
        """`PolicyRefused` for a target that needs no lookup to be refused: it need not wait for room."""
        place = destination(target, 0, visit or Visit())
        if place.address is not None:
            own = OwnAddresses(self._network.is_own_address)
            verdict = self._judge_literal(place, place.address, own)
            decision, checks = verdict.decision, verdict.checks
        else:
            decision, checks = self.policy.decide_target(place), ()
        if not decision.allowed:
            raise refusal(target, 0, decision, checks, place)

    async def open(
        self, target: Target, trace: Trace, phases: Phases, *, hop: int = 0, visit: Visit | None = None
    ) -> Stream:
        """A stream to the target, with TLS for https and wss; the caller closes it.

        `PolicyRefused` before any packet to the target; `ToolError("rate_limited")` on hop 0 before any packet;
        every other failure is `ProbeFailed`. The connect timeout bounds each attempt, not their sum.
        """
        visit = visit or Visit()
        place = destination(target, hop, visit)
        tokens = self._tokens(place, hop, visit)
        way = _Way(target, place, hop, trace, phases, tokens)
        addresses = await self._resolve(way, visit)
        if target.scheme not in TLS_SCHEMES:
            channel = await self._attempts.first(addresses, place.port, trace, phases, tokens, visit)
            phases.pause()
            return channel
        phases.pause()  # what is got ready here for the first time belongs to no phase
        from app.net.tls import shake_hands  # only a measurement over TLS needs it

        trust = await self._trust_store.trust(visit.tls)
        channel = await self._attempts.first(addresses, place.port, trace, phases, tokens, visit)
        stream = await shake_hands(channel, target, trust, trace, phases, self._clock)
        phases.pause()
        return stream

    def _tokens(self, place: Place, hop: int, visit: Visit) -> Tokens:
        """The first hops of a call share what was reserved for all of them."""
        if hop:
            return Tokens(self._budget, _budget_key(place), self._clock, hop)
        if visit.tokens is None:
            visit.tokens = Tokens(self._budget, _budget_key(place), self._clock, hop)
        return visit.tokens

    async def _resolve(self, way: _Way, visit: Visit) -> tuple[Address, ...]:
        """The addresses to try; the first hop of a call is looked up, judged and reserved once."""
        if way.hop:
            return tuple(each for each in (await self._route(way, 1)).addresses if visit.can_reach(each))
        route = visit.route
        if route is None:
            route = visit.route = await self._route(way, visit.measurements)
            if visit.each_address:
                reachable = [each for each in route.addresses if visit.can_reach(each)]
                way.tokens.reserve(max(0, len(reachable) - 1) * visit.measurements)
        else:
            way.trace.rule, way.trace.checks, way.trace.resolution = (
                route.rule,
                route.checks,
                route.resolution,
            )
        return visit.turn(route)

    async def _route(self, way: _Way, measurements: int) -> Route:
        own = OwnAddresses(self._network.is_own_address)
        place, ms = way.place, None
        if place.address is not None:
            answer = Answer("literal", None, (), ((place.host, None),))
            verdict = self._judge_literal(place, place.address, own)
        else:
            answer, ms = await self._look_up(way, measurements)
            verdict = self._judge(place, [text for text, _ in answer.addresses], own)
        resolution = _note_answer(way.trace, answer, verdict, ms, own)
        _admit(way, verdict)
        if place.address is not None:
            way.tokens.reserve(measurements)
        return Route(in_order(verdict.addresses), verdict.decision.rule, way.trace.checks, resolution)

    def _judge_literal(self, target: Place, address: Address, own: OwnAddresses) -> Verdict:
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

    def _judge(self, target: Place, addresses: Sequence[Address | str], own: OwnAddresses) -> Verdict:
        # Asking which addresses are ours takes a socket, so it is asked only where the answer can depend on it.
        by_entry = target.address is None and self.policy.profile == "allowlist"
        listeners = OwnListeners(self._own_listeners, own) if self._own_listeners else ()
        return self.policy.decide_answer(
            target.host, target.port, addresses, own=own if by_entry else (), own_listeners=listeners
        )

    async def _look_up(self, way: _Way, measurements: int) -> tuple[Answer, float]:
        """One lookup of a name that the policy admits, and how many milliseconds it took."""
        place, phases = way.place, way.phases
        decision = self.policy.decide_target(place)
        if not decision.allowed:
            raise way.refusal(decision)
        began_ns = self._clock.monotonic_ns()
        phases.begin("resolve", began_ns)
        answer = await self._local_answer(way, measurements)
        if answer is None:
            if self.policy.lookup(place.host) != "dns":
                raise way.refusal(self.policy.refuse_lookup(place.host))
            phases.pause()
            self._network.prepare()
            way.tokens.reserve(measurements + QUERIES)
            began_ns = self._clock.monotonic_ns()
            phases.begin("resolve", began_ns)
            answer = await self._dns_answer(place.host, way.trace, way.tokens, began_ns)
        return answer, self._since_ms(began_ns)

    async def _local_answer(self, way: _Way, measurements: int) -> Answer | None:
        try:
            answer = await self._network.lookup(way.place.host, "local", way.tokens.spend)
        except ProbeFailed:
            return None  # not known here, which is for the policy to judge
        way.tokens.reserve(measurements)
        return answer

    async def _dns_answer(self, name: str, trace: Trace, tokens: Tokens, began_ns: int) -> Answer:
        trace.resolution = {"how": "dns", "resolver": None, "ms": None, "cname": [], "addresses": []}
        try:
            return await self._network.lookup(name, "dns", tokens.spend)
        finally:
            trace.resolution["ms"] = self._since_ms(began_ns)

    def _since_ms(self, began_ns: int) -> float:
        return round((self._clock.monotonic_ns() - began_ns) / 1_000_000, 3)


@dataclass(frozen=True, slots=True)
class _Way:
    """One hop on its way to a socket: the target of the request, and the place that is connected to for it."""

    target: Target
    place: Place
    hop: int
    trace: Trace
    phases: Phases
    tokens: Tokens

    def refusal(self, decision: Decision, checks: Sequence[Check] = ()) -> PolicyRefused:
        return refusal(self.target, self.hop, decision, checks, self.place)


def destination(target: Target, hop: int, visit: Visit) -> Place:
    """What is resolved, judged and connected to: the target, or on the first hop what was given instead."""
    return target if hop or visit.connect_to is None else visit.connect_to


def _budget_key(place: Place) -> str:
    """What is counted as one target: the spellings of one local address share a bucket."""
    if place.host.endswith(".localhost"):
        return f"localhost:{place.port}"
    mapped = place.address.ipv4_mapped if isinstance(place.address, IPv6Address) else None
    return place.key if mapped is None else f"{mapped}:{place.port}"


def _admit(way: _Way, verdict: Verdict) -> None:
    if not verdict.decision.allowed:
        raise way.refusal(verdict.decision, verdict.checks)


def _note_answer(
    trace: Trace, answer: Answer, verdict: Verdict, ms: float | None, own: OwnAddresses
) -> dict[str, Any]:
    trace.rule = verdict.decision.rule
    trace.checks = checks_of(verdict.checks)
    addresses: list[dict[str, Any]] = []
    for (text, ttl_s), check in zip(answer.addresses, verdict.checks, strict=True):
        here = check.place.effective
        family = None if here is None else family_of(here)
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
    return trace.resolution
