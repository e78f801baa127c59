"""Sessions of the older era: found by whoever opened them, and only so many."""

from __future__ import annotations

from typing import Any, cast

import pytest

from app.transport.connections import Refused
from app.transport.sessions import Sessions


def test_a_session_is_found_by_its_name_until_it_ends() -> None:
    sessions = Sessions(2)
    name = sessions.open("2025-11-25", "anna")

    assert sessions.find([name], "anna").version == "2025-11-25"
    sessions.end([name], "anna")
    with pytest.raises(Refused):
        sessions.find([name], "anna")


@pytest.mark.parametrize(("caller", "times"), [("bob", 1), (None, 1), ("anna", 2)])
def test_a_name_alone_opens_nothing(caller: str | None, times: int) -> None:
    sessions = Sessions(2)
    name = sessions.open("2025-11-25", "anna")

    for use in (sessions.find, sessions.end):
        with pytest.raises(Refused) as refused:
            use([name] * times, caller)
        assert refused.value.response.status == 404
    assert sessions.find([name], "anna")


def test_names_are_long_and_never_the_same() -> None:
    sessions = Sessions(100)
    names = {sessions.open("2025-11-25", None) for _ in range(100)}

    assert (len(names), {len(name) for name in names}) == (100, {32})


def test_the_idle_one_that_was_used_longest_ago_makes_room() -> None:
    sessions = Sessions(3)
    busy, old, used = (sessions.open("2025-11-25", None) for _ in range(3))
    sessions.find([busy], None).exchanges.add(cast(Any, object()))
    sessions.find([used], None)
    new = sessions.open("2025-11-25", None)

    assert all(sessions.find([name], None) for name in (busy, used, new))
    with pytest.raises(Refused):
        sessions.find([old], None)
