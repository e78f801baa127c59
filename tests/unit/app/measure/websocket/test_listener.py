"""One open WebSocket: messages with their stamps, what was sent, and what is wrong with the peer."""

from __future__ import annotations

from typing import Any

import pytest

Measure = Any
BYE = b"\x88\x02\x03\xe8"


def unmasked(frame: bytes) -> bytes:
    """The payload of one short frame of a client."""
    mask = frame[2:6]
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(frame[6 : 6 + (frame[1] & 0x7F)]))


def test_what_is_to_be_sent_is_sent_first_and_listed(measure_ws: Measure, byte_server: Any) -> None:
    server = byte_server([["upgrade", ("wait", 0.05), BYE, "drain"]])

    data = measure_ws(server.url.replace("http", "ws"), send=["hi", {"base64": "AQ=="}]).data
    server.close()

    assert [(each["index"], each.get("text"), each.get("base64")) for each in data["sent"]] == [
        (0, "hi", None),
        (1, None, "AQ=="),
    ]
    assert unmasked(server.requests[1]) == b"hi"


def test_fragments_are_one_message_with_the_stamp_of_the_last(measure_ws: Measure, byte_server: Any) -> None:
    server = byte_server([["upgrade", b"\x01\x01a", ("wait", 0.1), b"\x00\x01b", b"\x80\x01c" + BYE, "hang"]])

    (message,) = measure_ws(server.url.replace("http", "ws")).data["messages"]

    assert (message["text"], message["frames"], message["bytes"]) == ("abc", 3, 3)
    assert message["offset_ms"] >= 95


def test_messages_have_the_order_and_the_times_of_their_arrival(
    measure_ws: Measure, byte_server: Any
) -> None:
    server = byte_server([["upgrade", b"\x81\x01a", ("wait", 0.05), b"\x82\x01b", BYE, "hang"]])

    first, second = measure_ws(server.url.replace("http", "ws")).data["messages"]

    assert (first["text"], second["base64"]) == ("a", "Yg==")
    assert 45 <= second["offset_ms"] - first["offset_ms"] < 1000
    assert first["received_at"] < second["received_at"]


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        pytest.param(b"\x81\x01\xff", 1007, id="a text that is not UTF-8"),
        pytest.param(b"\x80\x01a", 1002, id="a continuation of nothing"),
        pytest.param(b"\xc1\x01a", 1002, id="compressed without an agreement"),
        pytest.param(b"\x83\x01a", 1002, id="an opcode that is none"),
        pytest.param(b"\x81\x81\0\0\0\0a", 1002, id="masked by the server"),
        pytest.param(b"\x89\x7e\x00\x80" + b"x" * 128, 1002, id="a ping that is too long"),
    ],
)
def test_what_breaks_the_protocol_is_answered_and_told(
    measure_ws: Measure, byte_server: Any, wire: bytes, code: int
) -> None:
    outcome = measure_ws(byte_server([["upgrade", wire, "hang"]]).url.replace("http", "ws"), timeout_ms=2000)

    assert (outcome.error["code"], outcome.error["phase"]) == ("protocol_error", "body")
    assert (outcome.data["close"]["code"], outcome.data["close"]["by"]) == (code, "local")


def test_a_message_of_no_bytes_is_a_message(measure_ws: Measure, byte_server: Any) -> None:
    (message,) = measure_ws(
        byte_server([["upgrade", b"\x81\x00" + BYE, "hang"]]).url.replace("http", "ws")
    ).data["messages"]

    assert (message["text"], message["bytes"]) == ("", 0)


@pytest.mark.parametrize(
    "frame", [pytest.param(b"\x89\x00", id="pings"), pytest.param(b"\x00\x00", id="empty fragments")]
)
def test_a_flood_of_tiny_frames_does_not_outlast_the_window(
    measure_ws: Measure, byte_server: Any, frame: bytes
) -> None:
    server = byte_server([["upgrade", b"\x01\x00", frame * 1_000_000, "hang"]])

    outcome = measure_ws(server.url.replace("http", "ws"), window_ms=100)

    assert (outcome.data["stopped_by"], outcome.data["seen"]) == ("window", 0)
    assert outcome.data["timings"]["body_ms"] < 1000


def test_what_had_arrived_behind_the_last_message_is_searched_for_the_close(
    measure_ws: Measure, byte_server: Any
) -> None:
    server = byte_server([["upgrade", b"\x81\x01a" * 5000 + BYE, "hang"]])

    outcome = measure_ws(server.url.replace("http", "ws"), max_messages=1)

    assert (outcome.error, outcome.data["stopped_by"], outcome.data["kept"]) == (None, "count", 1)
    assert outcome.data["close"] == {"code": 1000, "reason": "", "by": "local", "clean": True}


@pytest.mark.parametrize("end", ["eof", "reset"])
def test_a_connection_that_ends_while_our_close_is_unanswered_is_not_clean_and_no_error(
    measure_ws: Measure, byte_server: Any, end: str
) -> None:
    server = byte_server([["upgrade", ("wait", 0.25), end]])

    outcome = measure_ws(server.url.replace("http", "ws"), window_ms=100)

    assert (outcome.error, outcome.data["stopped_by"]) == (None, "window")
    assert outcome.data["close"] == {"code": 1000, "reason": "", "by": "local", "clean": False}


def test_a_close_behind_the_last_wanted_message_does_not_change_what_stopped_us(
    measure_ws: Measure, byte_server: Any
) -> None:
    server = byte_server([["upgrade", b"\x81\x01a" + BYE, "hang"]])

    data = measure_ws(server.url.replace("http", "ws"), max_messages=1).data

    assert (data["stopped_by"], data["close"]["by"]) == ("count", "remote")
