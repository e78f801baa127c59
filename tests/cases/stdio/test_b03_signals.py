"""B03: SIGTERM and SIGINT end the process at once, also as PID 1, and no half record is left."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

SIGNALS = [signal.SIGTERM, signal.SIGINT]
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize("number", SIGNALS)
def test_b03_an_idle_server_with_its_input_held_open_ends(number: signal.Signals, server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.process.send_signal(number)

    assert facts.ended(within=2) == 0


@pytest.mark.parametrize("number", SIGNALS)
def test_b03_a_long_call_does_not_hold_the_exit_and_is_stored_as_cancelled(
    number: signal.Signals, server: Any, byte_server: Any
) -> None:
    facts, target = server(), byte_server([["read", b"HTTP/1.1 200 OK\r\n", "hang"]])
    facts.initialize()
    facts.call(1, target.url, timeout_ms=30_000)
    while not target.requests:
        facts.ping(f"p{len(facts.raw)}")
    facts.process.send_signal(number)

    assert facts.ended(within=3) == 0
    assert len(facts.records()) == 1


@pytest.mark.parametrize("number", SIGNALS)
def test_b03_a_burst_leaves_whole_records_and_every_acknowledged_one(
    number: signal.Signals, server: Any, byte_server: Any
) -> None:
    facts, target = server(), byte_server([["read", RESPONSE, "eof"]])
    facts.initialize()
    for id_ in range(200):
        facts.call(id_, target.url)
    facts.answer(20)
    facts.process.send_signal(number)

    assert facts.ended(within=3) == 0
    results = [answer["result"]["structuredContent"] for answer in facts.said() if answer["id"] != "init"]
    acknowledged = {result["observation_id"] for result in results if result.get("stored")}
    assert len(acknowledged) > 0
    assert acknowledged <= {record["id"] for record in facts.records()}


def _first_process_inside(facts: Any) -> int:
    """The process that is PID 1 in the namespace that `unshare` made, as seen from here."""
    outer = facts.process.pid
    return int(Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0])


@pytest.mark.parametrize("number", SIGNALS)
def test_b03_it_ends_as_the_first_process_of_a_container(number: signal.Signals, server: Any) -> None:
    facts = server("unshare", "--user", "--map-root-user", "--pid", "--fork")
    facts.initialize()
    os.kill(_first_process_inside(facts), number)

    assert facts.ended(within=2) == 0
