"""The measurements of one call: samples of one address, or of each address of the answer, one after another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from app.errors import Phase, ProbeErrorCode, ProbeFailed, ToolError
from app.measure.http1.hop import Talk
from app.measure.http1.journey import Journey
from app.measure.http1.plan import Plan
from app.measure.kind import Bench, Outcome
from app.net.visit import Visit

Entry = dict[str, Any]


class Series:
    """Journeys in a row; the first is told whole, of each further one an entry with its timings is kept."""

    def __init__(self, plan: Plan, bench: Bench, talk: Talk | None = None) -> None:
        self.visit: Visit = plan.reach.visit()
        self.first = Journey(plan, bench, self.visit, talk)
        self._plan = plan
        self._bench = bench
        self._talk = talk
        self._running: Journey | None = None
        self._by_place: list[list[Entry]] = []
        self._error: Entry | None = None

    async def run(self) -> None:
        """Take all samples of the first address, then of the next; `ToolError` only before anything was taken."""
        await self._samples(self.first)
        while self._has_more_places():
            self.visit.place += 1
            await self._samples(self._journey())

    def interrupt(self, code: ProbeErrorCode, message: str, phase: Phase | None = None) -> None:
        """Note what stopped the series, on the measurement that ran and, if that was a later one, on the whole."""
        running = self._running
        if running is not None:
            running.interrupt(code, message, phase)
            self._note(running)
        if running is not self.first:
            at_ms = (self._bench.clock.monotonic_ns() - self._started_ns()) // 1000 / 1000
            self._error = {"code": code, "phase": phase or "limit", "message": message, "at_ms": at_ms}

    def outcome(self) -> Outcome:
        """Everything that was seen; called when nothing is measured any more."""
        outcome = self.first.outcome()
        reach, data = self._plan.reach, outcome.data
        if reach.each_address:
            data["by_address"] = self._places()
        elif reach.samples > 1 and self._by_place:
            data["samples"] = self._by_place[0]
        return replace(outcome, error=outcome.error or self._error)

    def _places(self) -> list[Entry]:
        """One entry an address, that of its first sample; further ones stand inside it."""
        places = []
        for address, entries in zip(self._reachable(), self._by_place, strict=False):
            if entries:
                more = {"samples": entries} if self._plan.reach.samples > 1 else {}
                places.append({"ip": str(address), **entries[0], **more})
        return places

    def _reachable(self) -> list[Any]:
        route = self.visit.route
        return [] if route is None else [each for each in route.addresses if self.visit.can_reach(each)]

    def _has_more_places(self) -> bool:
        return self.visit.each_address and self.visit.place + 1 < len(self._reachable())

    async def _samples(self, journey: Journey) -> None:
        """All measurements of one address; `interval_ms` lies between their starts."""
        reach = self._plan.reach
        self._by_place.append([])
        began_ns = self._bench.clock.monotonic_ns()
        for number in range(reach.samples):
            if number:
                await self._wait(began_ns + round(number * reach.interval_s * 1e9))
                journey = self._journey()
            await self._take(journey)

    async def _wait(self, until_ns: int) -> None:
        left_s = (until_ns - self._bench.clock.monotonic_ns()) / 1e9
        if left_s > 0:
            await asyncio.sleep(left_s)

    def _started_ns(self) -> int:
        return self.first.hops[0].phases.started_ns

    def _journey(self) -> Journey:
        return Journey(self._plan, self._bench, self.visit, self._talk)

    async def _take(self, journey: Journey) -> None:
        self._running = journey
        await self._run(journey)
        self._note(journey)

    async def _run(self, journey: Journey) -> None:
        try:
            await journey.run()
        except ToolError as refusal:
            if journey is self.first:
                raise
            # Ours, not the target's, and too late to be an error of the call: something was measured already.
            journey.note(ProbeFailed("connect", "unreachable", refusal.message))

    def _note(self, journey: Journey) -> None:
        self._running = None
        reach = self._plan.reach
        if reach.samples > 1 or reach.each_address:
            self._by_place[-1].append(journey.entry(self._started_ns()))
