"""The facts of one hop, as they are stored: from what was seen to JSON values, after the last stamp."""

from __future__ import annotations

from typing import Any

from app.clock import Clock
from app.measure.http1.answer import Answer, text_of
from app.measure.http1.content import content_of
from app.measure.http1.head import Field, Head
from app.measure.http1.hop import Hop
from app.net.stream import Stream, Trace

Facts = dict[str, Any]


def facts_of(hop: Hop, profile: str, clock: Clock) -> Facts:
    """All facts of one hop, with as much body as was asked for; called when nothing is measured any more.

    A fault in the body's codings is noted here, since nothing is undone while the clock runs.
    """
    trace, answer = hop.trace, hop.answer
    content = content_of(answer, answer.copy_limit())
    if content.fault is not None:
        hop.note(content.fault)
    return {
        "target": _target(hop),
        "method": hop.request.method,
        "policy": {"profile": profile, "rule": trace.rule, "checks": trace.checks},
        "resolution": trace.resolution,
        "attempts": trace.attempts,
        **_connection_facts(hop, clock),
        **_head_facts(hop),
        **content.facts,
        "framing": answer.framing,
        "complete": answer.complete,
        "extra_bytes": answer.extra_bytes,
        "trailers": _texts(answer.trailers),
        "timings": hop.phases.timings(),
        "arrivals": answer.arrivals.curve(hop.phases.started_ns),
        "redirect": hop.redirect,
        "tls": trace.tls,
    }


def _target(hop: Hop) -> Facts:
    target = hop.request.target
    return {
        "input": hop.source,
        "scheme": target.scheme,
        "host": f"{target.host}." if target.trailing_dot else target.host,
        "port": target.port,
        "path": target.path,
        "literal": target.address is not None,
    }


def _connection_facts(hop: Hop, clock: Clock) -> Facts:
    trace, stream = hop.trace, hop.stream
    sent, received = (stream.bytes_sent, stream.bytes_received) if stream else trace.spent or (0, 0)
    synced, est_error_us = clock.sync()
    return {
        "peer": trace.peer,
        "local": trace.local,
        "connection": _connection(trace, stream),
        "tcp_info": stream.tcp_info() if stream else None,
        "bytes": {"sent": sent, "received": received},
        "clock": {
            "receive": stream.receive_clock if stream else None,
            "synced": synced,
            "est_error_us": est_error_us,
        },
        "load": hop.load,
    }


def _connection(trace: Trace, stream: Stream | None) -> Facts | None:
    """How the connection ended: by the server before we closed it, or by us."""
    if stream is None:
        return None
    how = stream.ended_by_peer
    return {
        "alpn": (trace.tls or {}).get("alpn"),
        "closed_by": "client" if how is None else "server",
        "close": how,
    }


def _head_facts(hop: Hop) -> Facts:
    answer = hop.answer
    head = answer.head or answer.partial
    headers, latin1 = _headers(head)
    return {
        "http_status": head.status if head else None,
        "reason": head.reason if head else None,
        "http_version": head.version if head else None,
        "headers": headers,
        "headers_latin1": latin1,
        "content_length": head.length if head else None,
        "deviations": list(head.deviations) if head else [],
        "informational": [
            {
                "status": each.head.status,
                "headers": _texts(each.head.fields),
                "at_ms": (each.at_ns - hop.phases.started_ns) // 1000 / 1000,
            }
            for each in answer.interim
        ],
        "raw_head": _raw_head(answer),
    }


def _headers(head: Head | None) -> tuple[list[list[str]], list[int]]:
    """The fields as text, and which of them have a value that had to be read as latin-1."""
    headers: list[list[str]] = []
    latin1: list[int] = []
    for name, value in head.fields if head else ():
        text, is_latin1 = text_of(value)
        if is_latin1:
            latin1.append(len(headers))
        headers.append([name.decode("latin-1"), text])
    return headers, latin1


def _texts(fields: list[Field]) -> list[list[str]]:
    return [[name.decode("latin-1"), text_of(value)[0]] for name, value in fields]


def _raw_head(answer: Answer) -> Facts | None:
    if not answer.raw_head_bytes:
        return None
    return {
        "text": answer.raw_head.decode("latin-1"),
        "bytes": answer.raw_head_bytes,
        "truncated": answer.raw_head_bytes > len(answer.raw_head),
    }
