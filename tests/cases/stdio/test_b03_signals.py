"""B03: SIGTERM and SIGINT end the process at once, also as PID 1, and no half record is left."""

from __future__ import annotations

import fcntl
import os
import signal
import time
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


def test_b03_a_lock_that_another_process_holds_does_not_hold_up_the_end(
    server: Any, byte_server: Any
) -> None:
    target = byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    facts = server()
    facts.initialize()
    facts.call(1, target.url)
    facts.content(1)
    with (facts.folder / "data/projects/cases/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        facts.call(2, target.url)
        while len(target.requests) < 2:
            assert facts.process.poll() is None
        facts.process.send_signal(signal.SIGTERM)
        began = time.monotonic()

        assert facts.ended() == 0
    assert time.monotonic() - began < 4


HEAVY = b"Set-Cookie: a=b; " * 60_000


def test_b03_a_body_that_is_long_to_search_holds_up_neither_pings_nor_the_end(
    server: Any, byte_server: Any
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(HEAVY)
    target = byte_server([["read", head + HEAVY, "eof"]])
    facts = server()
    facts.initialize()
    for id_ in (1, 2, 3):
        facts.call(id_, target.url, max_body_bytes=1_048_576)
    while len(target.requests) < 3:
        assert facts.process.poll() is None
    for id_ in range(10, 15):
        facts.ping(id_, within=2)
    facts.process.send_signal(signal.SIGTERM)

    assert facts.ended(within=4) == 0
