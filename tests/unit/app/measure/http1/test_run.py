"""A series under its deadline: ended by time or by the caller it still is an outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.clock import SystemClock
from app.measure.http1.arguments import HttpParams
from app.measure.http1.plan import plan_of
from app.measure.http1.run import run
from app.measure.http1.series import Series
from app.measure.kind import Bench, Limits, Outcome
from app.net.dialer import Dialer
from policy import Policy

Script = Any
CLOCK = SystemClock()


def outcome(network: Any, *, cancel: bool) -> Outcome:
    dialer = Dialer(Policy.parse("private"), network, CLOCK, budget=None, max_in_flight=0)
    plan = plan_of(HttpParams(project="p", url="http://10.0.0.1/"), Limits())

    async def take() -> Outcome:
        bench = Bench(dialer, CLOCK, CLOCK.monotonic_ns() + (10**10 if cancel else 10**8))
        task = asyncio.ensure_future(run(Series(plan, bench), bench))
        while cancel and not network.dialled:
            await asyncio.sleep(0)
        if cancel:
            task.cancel()
        return await task

    return asyncio.run(take())


@pytest.mark.parametrize(("cancel", "code"), [(False, "timeout"), (True, "cancelled")])
def test_what_ends_a_series_is_its_error(script: Script, *, cancel: bool, code: str) -> None:
    ended = outcome(script({("10.0.0.1", 80): ["silence"]}), cancel=cancel)

    assert (ended.ok, ended.error is not None and ended.error["code"]) == (False, code)
