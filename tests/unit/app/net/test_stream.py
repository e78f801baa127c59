"""The trace of one hop."""

from __future__ import annotations

from typing import Any

from app.net.stream import Trace


def test_a_new_trace_has_seen_nothing() -> None:
    trace = Trace()

    assert (trace.resolution, trace.attempts, trace.checks) == (None, [], [])
    assert (trace.peer, trace.local, trace.tls, trace.rule) == (None, None, None, None)


def test_the_facts_of_tls_are_made_once_and_only_when_they_are_read() -> None:
    trace, made = Trace(), []

    def describe() -> dict[str, Any]:
        made.append("once")
        return {"version": "TLSv1.3"}

    trace.describe_tls_later(describe)
    before = list(made)

    assert (before, trace.tls, trace.tls, made) == (
        [],
        {"version": "TLSv1.3"},
        {"version": "TLSv1.3"},
        ["once"],
    )


def test_the_facts_of_tls_can_be_given_at_once() -> None:
    trace = Trace()
    trace.tls = {"version": "TLSv1.2"}

    assert trace.tls == {"version": "TLSv1.2"}
