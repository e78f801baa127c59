"""B09: one slow call does not stop the rest."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from app.records.codec import body, line
from app.records.events import Asserted
from app.records.ulid import ulid_text

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


def test_b09_claims_and_queries_pass_twenty_waiting_calls(server: Any, byte_server: Any) -> None:
    facts, slow = server(), byte_server(SLOW)
    facts.initialize()
    for id_ in range(20):
        facts.call(id_, slow.url)
    facts.recall("warm", "query")
    facts.content("warm", within=5)
    facts.recall("claim", "assert", statement="x answers", observed_by="anna")
    facts.recall("other", "assert", statement="y answers", observed_by="anna")
    facts.ping("ping", within=1)
    claimed = facts.content("claim", within=1)
    facts.recall("query", "query", text="x")

    assert [claim["claim_id"] for claim in facts.content("query", within=1)["claims"]] == [
        claimed["claim_id"]
    ]
    assert facts.content("other", within=1)["created"] is True
    assert not any(facts.answers(id_) for id_ in range(20))


def write_many(folder: Path, count: int) -> None:
    """A log of so many claims, as another server would have left it."""
    at = "2026-09-22T08:14:03.000000Z"
    logs = folder / "projects/cases/logs"
    logs.mkdir(parents=True)
    with (logs / "claims.jsonl").open("wb") as log:
        for seq in range(1, count + 1):
            event = Asserted(f"host {seq % 997} answers on port {seq}", [], "anna", [f"t{seq % 10}"])
            log.write(line(seq, f"c_{ulid_text(seq)}", at, body(event)))


def ping_until(facts: Any, id_: str) -> int:
    """Ping twenty times a second until a call is answered; how many pings were."""
    pace = threading.Event()
    for number in range(1, 501):
        facts.ping(f"{id_} {number}", within=1)
        if facts.answers(id_):
            return number
        pace.wait(0.05)
    raise AssertionError(f"{id_} was not answered")


def stored_once_the_index_is_there(facts: Any, statement: str) -> bool:
    """Assert; who is told to come again comes again, and pings meanwhile."""
    for attempt in range(30):
        id_ = f"{statement} {attempt}"
        facts.recall(id_, "assert", statement=statement, observed_by="anna")
        ping_until(facts, id_)
        told = facts.content(id_)
        if "created" in told:
            return bool(told["created"])
        assert (told["code"], told["reason_code"]) == ("busy", "index_building")
    raise AssertionError("the index was never there")


@pytest.mark.parametrize("count", [30_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_b09_pings_pass_the_building_of_an_index_and_queries_over_all_of_it(
    count: int, server: Any, tmp_path: Path
) -> None:
    write_many(tmp_path / "registry", count)
    facts = server(PLINTH_DATA_DIR=str(tmp_path / "registry"))
    facts.initialize()
    facts.recall("early", "query", text="answers", limit=1)
    ping_until(facts, "early")
    stored = stored_once_the_index_is_there(facts, "x answers")
    facts.recall("match", "query", text='"answers on" host -7*', order="match", detail="brief")
    facts.recall("page", "query", text="answers", tags=["t7"], limit=100)
    ping_until(facts, "page")

    early, page = facts.content("early")["index"], facts.content("page")
    assert stored is True
    assert early["state"] == "building" or early["position"] == early["of"]
    assert page["index"]["state"] == "current"
    assert [claim["statement"].rpartition(" ")[2] for claim in page["claims"]] == [
        str(seq) for seq in range(count - 3, count - 1003, -10)
    ]
    assert len(facts.content("match")["claims"]) == 20
