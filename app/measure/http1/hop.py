"""One hop: a guarded connection, one exchange, and the facts of both, whatever ended it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.errors import Phase, ProbeErrorCode, ProbeFailed
from app.measure.http1.content import content_of
from app.measure.http1.exchange import Answer, Exchange, text_of
from app.measure.http1.head import Head
from app.measure.http1.headers import Request
from app.measure.kind import Bench
from app.net.phases import Phases
from app.net.stream import Stream, Trace


@dataclass(slots=True)
class Hop:
    """Everything about one hop; `source` is the text that named its target: the argument, or a Location."""

    request: Request
    source: str
    exchange: Exchange
    phases: Phases
    trace: Trace = field(default_factory=Trace)
    stream: Stream | None = None
    error: dict[str, Any] | None = None
    redirect: dict[str, Any] | None = None
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


async def take(hop: Hop, bench: Bench, number: int, connect_timeout_s: float | None) -> None:
    """Connect and exchange once, into `hop`; only refusals, the deadline and cancellation are raised."""
    failed = None
    try:
        await _connect_and_exchange(hop, bench, number, connect_timeout_s)
    except ProbeFailed as error:
        failed = error
    finally:
        _leave(hop)
    if failed is not None:
        hop.note(failed)
    if hop.is_answered:
        bench.progress(f"answered with status {hop.answer.status}")


async def _connect_and_exchange(hop: Hop, bench: Bench, number: int, connect_timeout_s: float | None) -> None:
    target, phases = hop.request.target, hop.phases
    hop.stream = await bench.dialer.open(
        target, hop.trace, phases, hop=number, connect_timeout_s=connect_timeout_s
    )
    bench.progress(f"connected for hop {number + 1}")
    await hop.exchange.run(hop.stream, phases)


def _leave(hop: Hop) -> None:
    phases, stream = hop.phases, hop.stream
    hop.ended_in = phases.current or hop.ended_in
    hop.ended_ms = phases.offset_ms()
    phases.finish(stream.received_ns if stream is not None and hop.answer.complete else None)
    if stream is not None:
        stream.close()


def facts_of(hop: Hop, profile: str, limit: int) -> dict[str, Any]:
    """All facts of one hop, with at most `limit` bytes of body; called after the last stamp.

    A fault in the body's codings is noted here, since nothing is undone while the clock runs.
    """
    target, trace, stream, answer = hop.request.target, hop.trace, hop.stream, hop.answer
    content = content_of(answer, limit)
    if content.fault is not None:
        hop.note(content.fault)
    return {
        "target": {
            "input": hop.source,
            "scheme": target.scheme,
            "host": f"{target.host}." if target.trailing_dot else target.host,
            "port": target.port,
            "path": target.path,
            "literal": target.address is not None,
        },
        "method": hop.request.method,
        "policy": {"profile": profile, "rule": trace.rule, "checks": trace.checks},
        "resolution": trace.resolution,
        "attempts": trace.attempts,
        "peer": trace.peer,
        "local": trace.local,
        "bytes": {
            "sent": stream.bytes_sent if stream else 0,
            "received": stream.bytes_received if stream else 0,
        },
        **_head_facts(answer.head),
        **content.facts,
        "complete": answer.complete,
        "extra_bytes": answer.extra_bytes,
        "timings": hop.phases.timings(),
        "redirect": hop.redirect,
        "tls": trace.tls,
    }


def _head_facts(head: Head | None) -> dict[str, Any]:
    headers: list[list[str]] = []
    latin1: list[int] = []
    for name, value in head.fields if head else ():
        text, is_latin1 = text_of(value)
        if is_latin1:
            latin1.append(len(headers))
        headers.append([name.decode("ascii"), text])
    return {
        "http_status": head.status if head else None,
        "reason": head.reason if head else None,
        "http_version": head.version if head else None,
        "headers": headers,
        "headers_latin1": latin1,
        "content_length": head.length if head else None,
    }
