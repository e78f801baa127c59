"""One hop: a guarded connection, one exchange, and what is known of both, whatever ended it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from app.errors import Phase, ProbeErrorCode, ProbeFailed
from app.measure.http1.answer import Answer
from app.measure.http1.exchange import Exchange
from app.measure.http1.headers import Request
from app.measure.kind import Bench
from app.net.phases import Phases
from app.net.stream import Stream, Trace
from app.net.visit import Visit


@dataclass(slots=True)
class Hop:
    """Everything about one hop; `source` is the text that named its target: the argument, or a Location."""

    request: Request
    source: str
    exchange: Exchange
    phases: Phases
    number: int = 0
    trace: Trace = field(default_factory=Trace)
    stream: Stream | None = None
    error: dict[str, Any] | None = None
    redirect: dict[str, Any] | None = None
    load: dict[str, Any] | None = None
    ended_in: Phase = "resolve"
    ended_ms: float = 0.0

    @property
    def answer(self) -> Answer:
        """What was seen of the answer until now."""
        return self.exchange.answer

    @property
    def is_answered(self) -> bool:
        """Whether the head of the final answer is complete; this and nothing else is `ok`."""
        return self.answer.status is not None

    def interrupt(self, code: ProbeErrorCode, message: str, phase: Phase | None = None) -> None:
        """Note that the hop was stopped from outside, in `phase` or in the one that ran."""
        self.note(ProbeFailed(phase or self.ended_in, code, message))

    def note(self, failed: ProbeFailed) -> None:
        """Make the error of this hop; the first one stays, since it caused the others."""
        if self.error is None:
            facts = {"errno": failed.errno, **failed.facts}
            self.error = {
                "code": failed.code,
                "phase": failed.phase,
                "message": failed.message,
                "at_ms": self.ended_ms,
                **{name: value for name, value in facts.items() if value is not None},
            }


Talk = Callable[[Hop, Stream, Phases, bytes], Awaitable[None]]
"""What follows a switch of protocols, on the open stream, with the bytes that came behind the head."""


async def take(hop: Hop, bench: Bench, visit: Visit, talk: Talk | None = None) -> None:
    """Connect and exchange once, into `hop`; only refusals, the deadline and cancellation are raised."""
    failed = None
    reading = bench.dialer.load.begin()
    try:
        await _connect_and_exchange(hop, bench, visit, talk)
    except ProbeFailed as error:
        failed = error
    finally:
        _leave(hop)
        hop.load = reading.end(hop.stream.late_ns if hop.stream is not None else 0)
    if failed is not None:
        hop.note(failed)
    if hop.is_answered:
        bench.progress(f"answered with status {hop.answer.status}")


async def _connect_and_exchange(hop: Hop, bench: Bench, visit: Visit, talk: Talk | None) -> None:
    target, phases = hop.request.target, hop.phases
    hop.stream = await bench.dialer.open(target, hop.trace, phases, hop=hop.number, visit=visit)
    bench.progress(f"connected for hop {hop.number + 1}")
    await hop.exchange.run(hop.stream, phases)
    if talk is not None and hop.answer.status == 101:
        await talk(hop, hop.stream, phases, hop.exchange.rest)


def _leave(hop: Hop) -> None:
    phases, stream = hop.phases, hop.stream
    hop.ended_in = phases.current or hop.ended_in
    hop.ended_ms = phases.offset_ms()
    phases.finish(hop.answer.ended_ns)
    if stream is not None:
        stream.close()
