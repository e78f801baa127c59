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
