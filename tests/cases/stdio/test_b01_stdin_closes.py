"""B01: standard input closes, and the process goes, in good time and without half a deed."""

from __future__ import annotations

from typing import Any

import pytest

HANG = [["read", "hang"]]


def test_b01_a_the_end_after_a_handshake_is_orderly(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.hang_up()

    assert facts.ended(within=5) == 0


def test_b01_b_the_end_before_any_byte_is_orderly(server: Any) -> None:
    facts = server()
    facts.hang_up()

    assert (facts.ended(within=5), facts.said()) == (0, [])


def test_b01_c_the_death_of_the_client_during_a_call_ends_the_server(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server(HANG)
    facts.initialize()
    facts.call(1, target.url, timeout_ms=1000)
    facts.die()

    assert facts.ended(within=8) == 0


def test_b01_d_a_call_in_flight_ends_by_its_own_deadline_and_is_answered(
    server: Any, byte_server: Any
) -> None:
    facts, target = server(), byte_server(HANG)
    facts.initialize()
    facts.call(1, target.url, timeout_ms=1500)
    facts.hang_up()

    assert facts.ended(within=6) == 0
    assert facts.content(1)["error"]["code"] == "timeout"


@pytest.mark.slow
def test_b01_d_a_call_with_a_longer_deadline_is_cut_and_answered(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server(HANG)
    facts.initialize()
    facts.call(1, target.url, timeout_ms=30_000)
    facts.hang_up()

    assert facts.ended(within=8) == 0
    assert facts.content(1)["error"]["code"] == "cancelled"


def test_b01_e_half_a_line_is_not_executed(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server([["read", "eof"]])
    facts.initialize("2025-11-25")
    facts.write(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"facts_measure_http",'
        b'"arguments":{"project":"cases","url":"%s"}}}' % target.url.encode()
    )
    facts.hang_up()

    assert facts.ended(within=5) == 0
    assert (facts.answers(1), target.connections) == ([], 0)
