"""The conversation behind a handshake: the first one is listened to, further samples are opened and closed."""

from __future__ import annotations

from typing import Any

Measure = Any
HELLO = b"\x81\x05hello"
BYE = b"\x88\x02\x03\xe8"


def test_further_samples_are_handshakes_alone(measure_ws: Measure, byte_server: Any) -> None:
    server = byte_server([["upgrade", HELLO, BYE, "hang"], ["upgrade", HELLO, BYE, "hang"]])

    data = measure_ws(server.url.replace("http", "ws"), samples=2).data

    assert [each["text"] for each in data["messages"]] == ["hello"]
    assert [(each["ok"], each["http_status"], each["error"]) for each in data["samples"]] == [
        (True, 101, None)
    ] * 2
    assert (data["samples"][1]["timings"]["body_ms"], server.connections) == (None, 2)


def test_bytes_that_came_with_the_head_are_heard(measure_ws: Measure, byte_server: Any) -> None:
    server = byte_server([["upgrade", HELLO + HELLO + BYE, "hang"]])

    assert measure_ws(server.url.replace("http", "ws")).data["seen"] == 2


def test_a_subprotocol_that_was_offered_is_told_and_another_is_an_error(
    measure_ws: Measure, byte_server: Any
) -> None:
    url = byte_server([["upgrade", BYE, "hang"]]).url.replace("http", "ws")

    data = measure_ws(url, subprotocols=["a"]).data

    assert (data["subprotocol"], data["close"]["clean"]) == (None, True)


def test_a_redirect_is_followed_to_a_websocket(measure_ws: Measure, byte_server: Any) -> None:
    last = byte_server([["upgrade", HELLO, BYE, "hang"]])
    first = byte_server([["read", b"HTTP/1.1 302 X\r\nLocation: " + last.url.encode() + b"\r\n\r\n", "eof"]])

    data = measure_ws(first.url.replace("http", "ws"), follow_redirects=True).data

    assert [hop["http_status"] for hop in data["hops"]] == [302, 101]
    assert (data["target"]["scheme"], data["seen"]) == ("ws", 1)


def test_only_the_first_sample_is_listened_to_also_when_it_opens_nothing(
    measure_ws: Measure, byte_server: Any
) -> None:
    busy = [b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "eof"]
    server = byte_server([["read", *busy], ["upgrade", HELLO, BYE, "hang"]])

    data = measure_ws(server.url.replace("http", "ws"), samples=2).data

    assert (data["http_status"], data["seen"], data["stopped_by"]) == (503, 0, None)
    assert [each["http_status"] for each in data["samples"]] == [503, 101]


def test_each_sample_has_a_key_of_its_own(measure_ws: Measure, byte_server: Any) -> None:
    server = byte_server([["upgrade", BYE, "hang"]])

    measure_ws(server.url.replace("http", "ws"), samples=2)

    first, second = ([line for line in each.split(b"\r\n") if b"-Key" in line] for each in server.requests)
    assert first != second
