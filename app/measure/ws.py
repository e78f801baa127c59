"""`facts.measure.ws`: the handshake as a hop of HTTP, then every message of a window with its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.measure.http1.run import run
from app.measure.kind import Bench, Kind, Outcome
from app.measure.websocket.arguments import WsParams
from app.measure.websocket.facts import WsFacts, brief

if TYPE_CHECKING:
    from app.measure.websocket.plan import WsPlan


def plan(params: WsParams, bench: Bench) -> WsPlan:
    """What is to be measured; `ToolError` when the arguments or the policy say that it cannot be."""
    from app.measure.websocket.plan import ws_plan_of  # websockets: a server start does not need it

    checked = ws_plan_of(params, bench.limits)
    bench.dialer.check(checked.handshake.request.target, checked.handshake.reach.visit())
    return checked


async def probe(checked: WsPlan, bench: Bench) -> Outcome:
    """Listen; `ToolError` when the first hop cannot be done, else an outcome, whatever the target did."""
    from app.measure.http1.series import Series
    from app.measure.websocket.conversation import Conversation

    conversation = Conversation(checked.listening, bench.clock)
    series = Series(checked.handshake, bench, conversation)
    conversation.journey = series.first
    outcome = await run(series, bench)
    start_ns = series.first.hops[-1].phases.started_ns
    start_wall_ns = bench.clock.wall_ns() - (bench.clock.monotonic_ns() - start_ns)
    told = conversation.record.facts(start_ns, start_wall_ns)
    return Outcome(outcome.ok, {**outcome.data, "kind": "ws", **told}, outcome.error)


KIND = Kind(
    name="ws",
    title="Listen to a WebSocket",
    description=(
        "Opens a WebSocket, sends what it is given, listens for window_ms, and closes: the handshake as HTTP facts, "
        "each message with its time, pings and pongs, how it ended. Silence is an observation: ok=true says that the "
        "server answered the handshake, whatever its status (101: it opened). No retries, no judgement. "
        'Example: {"project": "checkout", "url": "ws://127.0.0.1:8080/events", "window_ms": 2000}'
    ),
    params=WsParams,
    facts=WsFacts,
    plan=plan,
    probe=probe,
    brief=brief,
    read_only=False,
)
