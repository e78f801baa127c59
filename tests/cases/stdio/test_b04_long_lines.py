"""B04: lines over 64 KiB, in odd pieces; the verdict never depends on where the pipe cuts."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import pytest

LIMIT = 4 * 1024 * 1024
SIZES = [65_535, 65_536, 65_537, 200_000]


def ping_of(size: int, fill: str = "x") -> tuple[str, bytes]:
    """A ping whose line, without its end, has so many bytes; its id is most of it."""
    frame = json.dumps({"jsonrpc": "2.0", "id": "", "method": "ping"})
    id_ = fill * (size - len(frame))
    return id_, json.dumps({"jsonrpc": "2.0", "id": id_, "method": "ping"}).encode()


def test_b04_lines_up_to_the_limit_come_back_with_the_same_bytes(server: Any) -> None:
    facts = server()
    pings = [ping_of(size) for size in (*SIZES, LIMIT - 1, LIMIT)]
    for _, line in pings:
        facts.write(line + b"\n")

    assert [len(line) for _, line in pings] == [*SIZES, LIMIT - 1, LIMIT]
    assert [answer["id"] == id_ for answer, (id_, _) in zip(facts.lines(6), pings, strict=True)] == [True] * 6


def test_b04_a_cut_right_before_the_line_end_changes_nothing(server: Any) -> None:
    facts = server()
    for size in (65_537, LIMIT):
        facts.write(ping_of(size)[1])
        facts.write(b"\n")

    assert [answer["result"] for answer in facts.lines(2)] == [{}, {}]


def test_b04_single_bytes_change_nothing(server: Any) -> None:
    facts = server()
    id_, line = ping_of(65_537)
    for byte in line + b"\n":
        facts.write(bytes([byte]))

    assert facts.answer(id_)["result"] == {}


@pytest.mark.parametrize("where", ["front", "end"])
def test_b04_a_line_over_the_limit_is_one_error_with_its_id_and_the_next_line_works(
    where: str, server: Any
) -> None:
    facts = server()
    start, end = (b'"id":7,', b"") if where == "front" else (b"", b',"id":7')
    frame = b'{"jsonrpc":"2.0",%s"method":"ping","params":{"a":"%s"}%s}'
    length = LIMIT + 1 - len(frame % (start, b"", end))
    facts.write(frame % (start, b"x" * length, end) + b"\n")
    facts.ping("next")

    error = {"code": -32600, "message": "A line has at most 4 MiB"}
    assert facts.answers(7) == [{"jsonrpc": "2.0", "id": 7, "error": error}]


def test_b04_a_line_over_the_limit_without_readable_id_is_one_error_without_id(server: Any) -> None:
    facts = server()
    facts.write(b"x" * (LIMIT + 1) + b"\n")
    facts.ping("next")

    error = {"code": -32600, "message": "A line has at most 4 MiB"}
    assert facts.said()[0] == {"jsonrpc": "2.0", "error": error}


def test_b04_long_arguments_are_judged_by_the_tool(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.call(1, "http://127.0.0.1/" + "a" * 200_000)

    assert facts.content(1)["code"] == "invalid_arguments"


def test_b04_a_client_that_reads_late_and_slowly_loses_nothing(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.pause()
    ids = [f"{index}" + "x" * 20_000 for index in range(30)]
    for id_ in ids:
        facts.ask(id_, "ping")
    facts.hang_up()
    facts.listen()

    assert facts.ended() == 0
    assert [answer["id"] for answer in facts.said()[1:]] == ids


def test_b04_other_calls_go_on_while_a_client_does_not_read(server: Any, byte_server: Any) -> None:
    facts, target = server(), byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    facts.initialize()
    facts.pause()
    facts.ask("x" * 200_000, "ping")  # more than a pipe holds
    facts.call(1, target.url)
    reached = threading.Event()
    for _ in range(200):
        if target.connections:
            break
        reached.wait(0.05)
    facts.listen()

    assert target.connections == 1
    assert facts.content(1)["data"]["http_status"] == 204


def test_b04_a_reader_of_four_kilobytes_at_a_time_gets_every_byte(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.pause()
    id_, line = ping_of(200_000)
    facts.write(line + b"\n")
    received = bytearray()
    while not received.endswith(b"\n"):
        received += os.read(facts.output, 4096)

    assert json.loads(received) == {"jsonrpc": "2.0", "id": id_, "result": {}}


def claim_of(id_: int, size: int, fill: str = "x") -> tuple[str, bytes]:
    """A claim whose line, without its end, has so many bytes; the text of its evidence is most of it."""

    def line(text: str) -> bytes:
        arguments = {"project": "cases", "statement": f"claim {id_}", "observed_by": "anna"}
        evidence = [{"type": "note", "text": text}]
        params = {"name": "facts_recall_assert", "arguments": {**arguments, "evidence": evidence}}
        message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
        return json.dumps(message, ensure_ascii=False).encode()

    text = fill * ((size - len(line(""))) // len(fill.encode()))
    text += "x" * (size - len(line(text)))
    return text, line(text)


def claims_of(facts: Any) -> list[Any]:
    """The stored claims in the order in which they were sent."""
    stored = facts.records("claims")
    return sorted(stored, key=lambda line: str(line["statement"]))


def stored_texts(facts: Any) -> list[str]:
    return [line["evidence"][0]["text"] for line in claims_of(facts)]


def test_b04_evidence_of_any_length_comes_back_with_the_same_bytes(server: Any) -> None:
    facts = server()
    facts.initialize()
    texts = ["\u20ac" * (size // 3) + "x" * (size % 3) for size in SIZES]
    for id_, text in enumerate(texts):
        note = {"type": "note", "text": text}
        facts.recall(id_, "assert", statement=f"claim {id_}", observed_by="anna", evidence=[note])
    claims = [facts.content(id_) for id_ in range(len(SIZES))]
    for id_, claim in enumerate(claims):
        facts.recall(f"history {id_}", "history", claim_id=claim["claim_id"])
    told = [facts.content(f"history {id_}")["events"][0] for id_ in range(len(SIZES))]

    assert [len(text.encode()) for text in texts] == SIZES
    assert [claim["evidence"][0]["text"] == text for claim, text in zip(claims, texts, strict=True)] == [
        True
    ] * len(SIZES)
    assert [
        event["event"]["evidence"][0]["text"] == text for event, text in zip(told, texts, strict=True)
    ] == [True] * len(SIZES)
    assert [json.loads(event["line"]) for event in told] == claims_of(facts)


@pytest.mark.parametrize("fill", ["x", "\u20ac"], ids=["ascii", "three bytes a character"])
def test_b04_a_claim_at_the_limit_is_stored_and_one_byte_more_is_one_error(fill: str, server: Any) -> None:
    facts = server()
    facts.initialize()
    sent = [claim_of(id_, LIMIT + id_ - 1, fill) for id_ in range(3)]
    for _, line in sent:
        facts.write(line + b"\n")
        facts.ping(f"after {len(line)}")
    answers = {answer["id"]: answer for answer in facts.lines(7)}

    assert [len(line) for _, line in sent] == [LIMIT - 1, LIMIT, LIMIT + 1]
    assert answers[2]["error"] == {"code": -32600, "message": "A line has at most 4 MiB"}
    assert [text == stored for (text, _), stored in zip(sent, stored_texts(facts), strict=False)] == [
        True
    ] * 2
    assert len(facts.records("claims")) == 2


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537])
@pytest.mark.parametrize("cut", ["single bytes", "before the line end"])
def test_b04_a_claim_does_not_depend_on_where_the_pipe_cuts(size: int, cut: str, server: Any) -> None:
    facts = server()
    facts.initialize()
    text, line = claim_of(1, size, "\u20ac")
    for piece in [line, b"\n"] if cut == "before the line end" else [bytes([byte]) for byte in line + b"\n"]:
        facts.write(piece)

    assert facts.content(1)["created"] is True
    assert stored_texts(facts) == [text]


def test_b04_history_comes_whole_to_a_reader_of_four_kilobytes_at_a_time(server: Any) -> None:
    facts = server()
    facts.initialize()
    text, line = claim_of(1, 200_000)
    facts.write(line + b"\n")
    claim_id = facts.content(1)["claim_id"]
    facts.pause()
    facts.recall(2, "history", claim_id=claim_id)
    received = bytearray()
    while not received.endswith(b"\n"):
        received += os.read(facts.output, 4096)

    (event,) = json.loads(received)["result"]["structuredContent"]["events"]
    assert event["event"]["evidence"] == [{"type": "note", "text": text}]


def test_b04_claims_are_stored_while_their_client_does_not_read(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.pause()
    for id_ in range(1, 11):
        facts.write(claim_of(id_, 100_000)[1] + b"\n")
    other = server(PLINTH_DATA_DIR=str(facts.folder / "data"))
    other.initialize()
    reached = threading.Event()
    for number in range(200):
        other.recall(number, "query", limit=1)
        if other.content(number)["matched"] == 10:
            break
        reached.wait(0.05)
    unread = len(facts.said())
    facts.listen()

    assert (unread, len(facts.records("claims"))) == (1, 10)
    assert all(answer["result"]["structuredContent"]["created"] for answer in facts.lines(11)[1:])
