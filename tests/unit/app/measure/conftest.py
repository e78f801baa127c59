"""A measurement from arguments to outcome: the real probe and dialer over a scripted or a loopback network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from app.clock import SystemClock
from app.measure.http import KIND as HTTP
from app.measure.kind import Bench, Kind, Limits, Outcome
from app.measure.ws import KIND as WS
from app.net.dialer import Dialer
from app.net.network import Network
from app.net.scripted import ScriptedNetwork, Step
from app.net.sockets import SocketNetwork
from policy import Budget, Policy

Measure = Callable[..., Outcome]
Script = Callable[..., ScriptedNetwork]


@pytest.fixture
def script() -> Script:
    """`script({("10.0.0.1", 80): [steps]}, names)` is a network that plays back."""

    def make(
        peers: dict[tuple[str, int], list[Step]], names: dict[str, Any] | None = None
    ) -> ScriptedNetwork:
        return ScriptedNetwork(names=names or {}, peers=peers, clock=SystemClock())

    return make


@pytest.fixture
def measure() -> Measure:
    """`measure(url, network, **arguments)` under the profile `private`; without a network over loopback."""
    return measuring(HTTP)


@pytest.fixture
def measure_ws() -> Measure:
    """The same for a WebSocket."""
    return measuring(WS)


def measuring(kind: Kind) -> Measure:
    """A function that measures with this kind."""

    def run(
        url: str,
        network: Network | None = None,
        *,
        policy: Policy | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        deadline_s: float = 5.0,
        progress: Callable[[str], object] = str.strip,  # says nothing to anybody
        **arguments: Any,
    ) -> Outcome:
        clock = SystemClock()
        dialer = Dialer(
            policy or Policy.parse("private"),
            network or SocketNetwork(clock),
            clock,
            budget=budget,
            max_in_flight=0,
        )
        params = msgspec.convert({"project": "p", "url": url, **arguments}, kind.params)

        def told(message: str) -> None:
            progress(message)

        async def take() -> Outcome:
            deadline_ns = clock.monotonic_ns() + int(deadline_s * 1e9)
            bench = Bench(dialer, clock, deadline_ns, limits or Limits(), told)
            return await kind.probe(kind.plan(params, bench), bench)

        return asyncio.run(take())

    return run
