"""C11: what closed a WebSocket is told apart, reserved codes are never sent, and nothing hangs.

python-websockets/websockets#877, #1202, #687 · hypothesis/h#5969 · websocket-client/websocket-client#592
"""

from __future__ import annotations

from typing import Any

import pytest

HELLO = b"\x81\x05hello"


def close_of(sent: bytes) -> int | None:
    """The code of the close frame among the short, masked frames of a client; None without one, -1 for an empty one."""
    at = 0
    while at < len(sent):
        size, mask = sent[at + 1] & 0x7F, sent[at + 2 : at + 6]
        if sent[at] == 0x88:
            payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(sent[at + 6 : at + 6 + size]))
            return int.from_bytes(payload[:2], "big") if payload else -1
        at += 6 + size
    return None


def closing(payload: bytes) -> bytes:
    return b"\x88" + bytes([len(payload)]) + payload


@pytest.mark.parametrize(
    ("steps", "close", "error", "stopped_by", "answered"),
    [
        pytest.param(
            [closing(b"\x03\xe8bye"), "drain"],
            {"code": 1000, "reason": "bye", "by": "remote", "clean": True},
            None,
            "peer",
            1000,
            id="a code and a reason",
        ),
        pytest.param(
            [closing(b""), "drain"],
            {"code": None, "reason": "", "by": "remote", "clean": True},
            None,
            "peer",
            -1,
            id="no code in the frame",
        ),
        pytest.param(
            [closing(b"\x03"), "drain"],
            {"code": 1002, "reason": "close frame too short", "by": "local", "clean": False},
            ("protocol_error", "body"),
            None,
            1002,
            id="one byte",
        ),
        *(
            pytest.param(
                [closing(code.to_bytes(2, "big")), "drain"],
                {"code": 1002, "reason": "invalid status code", "by": "local", "clean": False},
                ("protocol_error", "body"),
                None,
                1002,
                id=f"{code} on the wire",
            )
            for code in (1005, 1006, 999, 5000)
        ),
        pytest.param(
            [closing(b"\x03\xe8\xff"), "drain"],
            {"code": 1007, "reason": "invalid start byte at position 0", "by": "local", "clean": False},
            ("protocol_error", "body"),
            None,
            1007,
            id="a reason that is not UTF-8",
        ),
        pytest.param(
            ["eof"],
            {"code": None, "reason": None, "by": "none", "clean": False},
            ("truncated", "body"),
            "peer",
            None,
            id="closed without a close frame",
        ),
        pytest.param(
            [b"\x81\x7e\x00", "reset"],
            {"code": None, "reason": None, "by": "none", "clean": False},
            ("reset", "body"),
            "peer",
            None,
            id="a reset inside a frame",
        ),
        pytest.param(
            ["drain"],
            {"code": 1000, "reason": "", "by": "local", "clean": False},
            ("timeout", "close"),
            "window",
            1000,
            id="never answers our close",
        ),
    ],
)
def test_c11_what_ended_it_is_told_apart(
    measure_ws: Any,
    byte_server: Any,
    steps: list[Any],
    close: dict[str, Any],
    error: tuple[str, str] | None,
    stopped_by: str | None,
    answered: int | None,
) -> None:
    server = byte_server([["upgrade", HELLO, *steps]])

    outcome = measure_ws(server.url.replace("http", "ws"), window_ms=200, timeout_ms=2000)
    server.close()

    data = outcome.data
    assert (outcome.ok, data["http_status"], data["close"]) == (True, 101, close)
    assert (outcome.error and (outcome.error["code"], outcome.error["phase"])) == error
    assert (data["stopped_by"], [each["text"] for each in data["messages"]]) == (stopped_by, ["hello"])
    assert close_of(b"".join(server.requests[1:])) == answered
    assert data["timings"]["total_ms"] < 2300


def test_c11_silence_for_the_whole_window_is_an_observation(measure_ws: Any, byte_server: Any) -> None:
    server = byte_server([["upgrade", ("wait", 0.3), closing(b"\x03\xe8"), "hang"]])

    outcome = measure_ws(server.url.replace("http", "ws"), window_ms=200, timeout_ms=2000)

    assert (outcome.ok, outcome.error, outcome.data["stopped_by"]) == (True, None, "window")
    assert (outcome.data["seen"], outcome.data["close"]["clean"]) == (0, True)
    assert outcome.data["timings"]["body_ms"] >= 199


def test_c11_a_deadline_inside_the_window_has_its_phase(measure_ws: Any, byte_server: Any) -> None:
    server = byte_server([["upgrade", HELLO, "hang"]])

    outcome = measure_ws(server.url.replace("http", "ws"), window_ms=60_000, timeout_ms=400)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "timeout", "body")
    assert (outcome.data["kept"], outcome.data["timings"]["total_ms"] < 1500) == (1, True)


def test_c11_a_server_that_never_answers_the_handshake_ends_at_the_deadline(
    measure_ws: Any, byte_server: Any
) -> None:
    server = byte_server([["hang"]])

    outcome = measure_ws(server.url.replace("http", "ws"), timeout_ms=400)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "timeout", "first_byte")
    assert (outcome.data["stopped_by"], outcome.data["close"]["by"]) == (None, "none")


@pytest.mark.parametrize(
    ("answer", "ok", "code"),
    [
        pytest.param(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", True, None, id="refused"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True, None, id="no WebSocket here"),
        pytest.param(
            b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            True,
            "protocol_error",
            id="a wrong accept",
        ),
        pytest.param(
            b"HTTP/1.1 101 X\r\nUpgrade: h2c\r\n\r\n", True, "protocol_error", id="another protocol"
        ),
        pytest.param(b"SSH-2.0-x\r\n", False, "protocol_error", id="no HTTP"),
    ],
)
def test_c11_an_answer_that_opens_nothing_is_facts(
    measure_ws: Any,
    byte_server: Any,
    answer: bytes,
    *,
    ok: bool,
    code: str | None,
) -> None:
    outcome = measure_ws(byte_server([["read", answer, "eof"]]).url.replace("http", "ws"), timeout_ms=2000)

    assert (outcome.ok, outcome.error and outcome.error["code"]) == (ok, code)
    assert (outcome.data["stopped_by"], outcome.data["seen"]) == (None, 0)


def test_c11_pings_are_answered_and_listed(measure_ws: Any, byte_server: Any) -> None:
    server = byte_server([["upgrade", b"\x89\x02hi", b"\x8a\x00", "drain"]])

    data = measure_ws(server.url.replace("http", "ws"), window_ms=100, timeout_ms=2000).data
    server.close()

    assert [(each["type"], each["by"], each["bytes"]) for each in data["control"]] == [
        ("ping", "remote", 2),
        ("pong", "remote", 0),
    ]
    assert server.requests[1].startswith(b"\x8a\x82")
