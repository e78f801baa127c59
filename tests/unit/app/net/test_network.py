"""The values of the seam."""

from __future__ import annotations

import dataclasses

import pytest

from app.net.network import Answer


def test_an_answer_cannot_be_changed() -> None:
    answer = Answer("dns", "10.0.0.53", (), (("10.0.0.1", 60),))

    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.addresses = ()  # type: ignore[misc]  # that it fails is the point


def test_equal_answers_are_equal_values() -> None:
    assert Answer("hosts", None, (), ()) == Answer("hosts", None, (), ())
