"""Brief shows the first messages, cuts long ones, and leaves out what has no body."""

from __future__ import annotations

from typing import Any

from app.measure.websocket.facts import BRIEF_MESSAGES, brief
from app.measure.websocket.record import Message, Record


def facts(status: int, *payloads: str) -> dict[str, Any]:
    record = Record(messages=[Message(0, each, len(each), 1, False, False) for each in payloads])
    return {"http_status": status, "body": None, "body_encoding": None, **record.facts(0, 0)}


def test_brief_shows_the_first_messages_and_says_how_many_there_are() -> None:
    kept = brief(facts(101, *["x"] * 30))

    assert (len(kept["messages"]), kept["kept"]) == (BRIEF_MESSAGES, 30)


def test_brief_cuts_a_long_message_with_a_mark() -> None:
    (message,) = brief(facts(101, "x" * 5000))["messages"]

    assert (
        len(message["text"]) < 1100,
        message["text"].endswith("(5000 characters; detail full has all)"),
    ) == (
        True,
        True,
    )


def test_a_handshake_that_opened_something_has_no_body() -> None:
    assert ["body" in brief(facts(status)) for status in (101, 403)] == [False, True]


def test_brief_of_an_answer_that_opened_nothing_keeps_its_body() -> None:
    assert brief({**facts(403), "body": "no"})["body"] == "no"
