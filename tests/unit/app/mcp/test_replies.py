"""How answers leave."""

from __future__ import annotations

from app.mcp.events import Held, Send
from app.mcp.replies import Alone, Together


def test_an_answer_alone_is_a_line_with_its_code() -> None:
    assert (Alone().add(b"a", -32600), Alone().drop()) == ([Send(b"a", -32600)], [])


def test_the_answers_of_an_array_leave_together() -> None:
    reply = Together(2)

    assert [reply.add(b"a"), reply.add(b"b", 5)] == [[Held()], [Send(b"[a,b]")]]


def test_a_dropped_answer_is_not_waited_for() -> None:
    reply = Together(3)

    assert [reply.drop(), reply.add(b"a"), reply.drop()] == [[], [Held()], [Send(b"[a]")]]


def test_an_array_of_which_all_is_dropped_is_never_sent() -> None:
    reply = Together(2)

    assert [reply.drop(), reply.drop()] == [[], []]
