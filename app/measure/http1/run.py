"""A series under the deadline of its call: whatever ends it, its outcome is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from app.measure.kind import Bench, Outcome

if TYPE_CHECKING:
    from app.measure.http1.series import Series


async def run(series: Series, bench: Bench) -> Outcome:
    """The outcome of the series; `ToolError` when its first hop cannot be done."""
    try:
        async with asyncio.timeout((bench.deadline_ns - bench.clock.monotonic_ns()) / 1e9):
            await series.run()
    except TimeoutError:
        series.interrupt("timeout", "the time of the measurement is over")
    except asyncio.CancelledError:
        series.interrupt("cancelled", "the caller cancelled the measurement", "cancel")
        # Taken over: what was seen until now is an observation worth keeping.
        cast("asyncio.Task[Outcome]", asyncio.current_task()).uncancel()
    return series.outcome()
