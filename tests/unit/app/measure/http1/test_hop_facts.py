"""The facts of a hop: the head as it came, the connection, and who told the time."""

from __future__ import annotations

from typing import Any

Measure = Any
Script = Any
HERE = ("10.0.0.1", 80)
URL = "http://10.0.0.1/"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nA: \xe4\r\nb : c\r\nContent-Length: 2\r\n\r\n"


def test_the_head_is_told_as_text_and_as_it_came(measure: Measure, script: Script) -> None:
    data = measure(URL, script({HERE: [HEAD + b"hi", "eof"]})).data

    assert data["headers"] == [["A", "ä"], ["b", "c"], ["Content-Length", "2"]]
    assert (data["headers_latin1"], data["deviations"]) == ([0], ["space_before_colon"])
    assert data["raw_head"] == {"text": HEAD.decode("latin-1"), "bytes": len(HEAD), "truncated": False}


def test_interim_answers_are_listed_with_their_time(measure: Measure, script: Script) -> None:
    data = measure(URL, script({HERE: [EARLY, HEAD + b"hi"]})).data

    (early,) = data["informational"]
    assert (early["status"], early["headers"]) == (103, [["Link", "</a>"]])
    assert 0 < early["at_ms"] <= data["timings"]["total_ms"]


def test_who_closed_is_told(measure: Measure, script: Script) -> None:
    connections = [
        measure(URL, script({HERE: [b"HTTP/1.1 200 OK\r\n\r\nhi", "eof"]})).data["connection"],
        measure(URL, script({HERE: [HEAD + b"hi", "silence"]})).data["connection"],
        measure(URL, script({HERE: ["refused"]})).data["connection"],
    ]

    assert connections == [
        {"alpn": None, "closed_by": "server", "close": "fin"},
        {"alpn": None, "closed_by": "client", "close": None},
        None,
    ]


def test_over_a_real_socket_the_kernel_tells_the_time(measure: Measure, byte_server: Any) -> None:
    server = byte_server([["read", HEAD, ("wait", 0.05), b"hi", "eof"]])

    data = measure(server.url).data

    assert (data["clock"]["receive"], data["load"]["concurrent"]) == ("kernel", 1)
    assert data["tcp_info"]["rtt_us"] > 0
    assert sum(size for _, size in data["arrivals"]) == len(HEAD) + 2
    assert data["timings"]["body_ms"] >= 45


def test_a_head_that_never_ended_is_told_as_far_as_it_came(measure: Measure, script: Script) -> None:
    outcome = measure(URL, script({HERE: [b"HTTP/1.1 200 OK\r\nA: b\r\nC", "reset"]}))

    assert (outcome.ok, outcome.error["code"]) == (False, "reset")
    assert (outcome.data["http_status"], outcome.data["headers"]) == (200, [["A", "b"]])
    assert outcome.data["raw_head"]["text"].endswith("\r\nC")
