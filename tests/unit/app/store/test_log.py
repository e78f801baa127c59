"""The values that every backend speaks in."""

from __future__ import annotations

import pytest

from app.store.log import LOGS, Damage, Stored


def test_the_logs_of_a_project_are_these() -> None:
    assert LOGS == ("observations", "claims", "documents", "checkpoints")


def test_an_acknowledgement_is_of_a_new_line_unless_it_says_otherwise() -> None:
    assert Stored(1, "o_x", "now", "claims", 0).created


@pytest.mark.parametrize(
    ("value", "member"),
    [(Stored(1, "o_x", "now", "claims", 0), "seq"), (Damage("file", 0, 1, "torn"), "offset")],
    ids=["an acknowledgement", "a damage"],
)
def test_an_answer_cannot_be_changed(value: object, member: str) -> None:
    with pytest.raises(AttributeError):
        setattr(value, member, 2)
