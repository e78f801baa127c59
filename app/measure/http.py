"""`facts.measure.http`: one request a hop, the answer as it came, and every redirect judged as a new target."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from app.measure.http1.arguments import HttpParams
from app.measure.http1.facts import HttpFacts, brief
from app.measure.kind import Bench, Kind, Outcome

if TYPE_CHECKING:
    from app.measure.http1.plan import Plan


def plan(params: HttpParams, bench: Bench) -> Plan:
    """What is to be measured; `ToolError` when the arguments or the policy say that it cannot be."""
    from app.measure.http1.plan import plan_of  # 15 ms that a server start does not need

    checked = plan_of(params, bench.limits)
    bench.dialer.check(checked.request.target)
    return checked


async def probe(checked: Plan, bench: Bench) -> Outcome:
    """Measure; `ToolError` when the first hop cannot be done, else an outcome, whatever the target did."""
    from app.measure.http1.journey import Journey

    journey = Journey(checked, bench)
    try:
        async with asyncio.timeout((bench.deadline_ns - bench.clock.monotonic_ns()) / 1e9):
            await journey.run()
    except TimeoutError:
        journey.interrupt("timeout", "the time of the measurement is over")
    except asyncio.CancelledError:
        journey.interrupt("cancelled", "the caller cancelled the measurement", "cancel")
        # Taken over: what was seen until now is an observation worth keeping.
        cast("asyncio.Task[Outcome]", asyncio.current_task()).uncancel()
    return journey.outcome()


KIND = Kind(
    name="http",
    title="Measure an HTTP endpoint",
    description=(
        "Sends one HTTP/1.1 request and returns what came back: status, headers, body, timings of each phase, the "
        "address that answered, TLS facts, redirects. No retries, no judgement: a 500 is ok=true with http_status "
        "500; ok=false means that no complete response head arrived, and error says in which phase and why. "
        'Example: {"project": "checkout", "url": "http://127.0.0.1:8080/healthz"}'
    ),
    params=HttpParams,
    facts=HttpFacts,
    plan=plan,
    probe=probe,
    brief=brief,
    read_only=True,
)
