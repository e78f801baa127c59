"""`facts.measure.http`: one request a hop, the answer as it came, and every redirect judged as a new target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.measure.http1.arguments import HttpParams
from app.measure.http1.brief import brief
from app.measure.http1.facts import HttpFacts
from app.measure.http1.run import run
from app.measure.kind import Bench, Kind, Outcome

if TYPE_CHECKING:
    from app.measure.http1.plan import Plan


def plan(params: HttpParams, bench: Bench) -> Plan:
    """What is to be measured; `ToolError` when the arguments or the policy say that it cannot be."""
    from app.measure.http1.plan import plan_of  # 15 ms that a server start does not need

    checked = plan_of(params, bench.limits)
    bench.dialer.check(checked.request.target, checked.reach.visit())
    return checked


async def probe(checked: Plan, bench: Bench) -> Outcome:
    """Measure; `ToolError` when the first hop cannot be done, else an outcome, whatever the target did."""
    from app.measure.http1.series import Series

    return await run(Series(checked, bench), bench)


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
