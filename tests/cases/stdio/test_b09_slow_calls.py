"""B09: one slow call does not stop the rest."""

from __future__ import annotations

import zlib
from typing import Any

SLOW = [["read", ("wait", 10.0), "eof"]]
REFUSED = "http://10.0.0.1/"


def zeros_in_gzip(size: int) -> bytes:
    """A response whose body inflates to so many bytes."""
    packer = zlib.compressobj(9, wbits=31)
    body = b"".join(packer.compress(bytes(1_000_000)) for _ in range(size // 1_000_000)) + packer.flush()
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    return head + body


def test_b09_pings_lists_and_refusals_pass_twenty_waiting_calls(server: Any, byte_server: Any) -> None:
    facts, slow = server(), byte_server(SLOW)
    facts.initialize()
    for id_ in range(20):
        facts.call(id_, slow.url)
    facts.call("warm", REFUSED)
    facts.answer("warm", within=5)
    facts.ping("ping", within=1)
    facts.ask("list", "tools/list")
    facts.answer("list", within=1)
    facts.call("refused", REFUSED)

    assert facts.content("refused", within=1)["code"] == "policy_denied"
    assert not any(facts.answers(id_) for id_ in range(20))


def test_b09_pings_pass_the_inflating_of_a_large_body(server: Any, byte_server: Any) -> None:
    facts, large = server(), byte_server([["read", zeros_in_gzip(50_000_000), "eof"]])
    facts.initialize()
    facts.call("large", large.url, read_limit_bytes=100_000_000)
    for index in range(50):
        facts.ping(index, within=1)

    assert facts.content("large")["data"]["http_status"] == 200


def test_b09_a_waiting_call_can_be_cancelled_and_is_never_answered(server: Any, byte_server: Any) -> None:
    facts, slow = server(), byte_server(SLOW)
    facts.initialize()
    facts.call(1, slow.url)
    while not slow.requests:
        facts.ping(f"p{len(facts.raw)}")
    facts.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    facts.hang_up()

    assert facts.ended(within=4) == 0
    assert facts.answers(1) == []
    assert len(facts.records()) == 1


def test_b09_lines_of_many_answers_at_once_never_interleave(server: Any, byte_server: Any) -> None:
    facts = server(PLINTH_FACTS_MAX_IN_FLIGHT="0")
    quick = byte_server([["read", b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20_000, "eof"]])
    facts.initialize()
    for id_ in range(40):
        facts.call(id_, quick.url)
    facts.hang_up()

    assert facts.ended() == 0
    assert sorted(answer["id"] for answer in facts.said()[1:]) == list(range(40))
