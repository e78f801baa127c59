"""What was heard becomes facts with times from the start of the hop."""

from __future__ import annotations

from app.measure.websocket.record import MOST_CONTROL, Closing, Control, Message, Record


def test_a_message_has_its_time_absolute_and_from_the_start() -> None:
    record = Record(messages=[Message(2_500_000, "hi", 2, 1, False, False)], seen=1)

    (message,) = record.facts(1_000_000, 1_790_000_000_000_000_000)["messages"]

    assert message == {
        "index": 0,
        "received_at": "2026-09-21T14:13:20.001500Z",
        "offset_ms": 1.5,
        "type": "text",
        "bytes": 2,
        "text": "hi",
        "frames": 1,
        "compressed": False,
        "truncated": False,
    }


def test_bytes_are_told_in_base64() -> None:
    record = Record(messages=[Message(0, b"\x00", 1, 1, True, False)], sent=[(0, b"\x01"), (0, "a")])

    facts = record.facts(0, 0)

    assert (facts["messages"][0]["type"], facts["messages"][0]["base64"]) == ("binary", "AA==")
    assert [{*each} & {"text", "base64"} for each in facts["sent"]] == [{"base64"}, {"text"}]


def test_nothing_heard_is_said_as_nothing() -> None:
    facts = Record().facts(0, 0)

    assert (facts["close"], facts["stopped_by"], facts["kept"]) == (
        {"code": None, "reason": None, "by": "none", "clean": False},
        None,
        0,
    )


def test_control_frames_are_kept_up_to_a_bound() -> None:
    record = Record(closing=Closing())
    for _ in range(MOST_CONTROL + 5):
        record.note_control(Control(0, "ping", 0, "remote"))

    assert len(record.control) == MOST_CONTROL
