"""A bar for whoever watches, and nothing for anybody else."""

from __future__ import annotations

import io
import sys

import pytest

from app.cli.progress import STEPS, Progress


class Terminal(io.StringIO):
    """Somebody watches."""

    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, amounts: list[int], total: int) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("verified", total) as progress:
        for amount in amounts:
            progress.add(amount)
    return stream.getvalue()


def test_the_bar_grows_and_is_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = drawn(monkeypatch, Terminal(), [50, 50], 100).split("\r")

    assert parts == [
        "",
        "verified [###############...............]  50 %",
        "verified [##############################] 100 %",
        "\x1b[K",
    ]


def test_where_nobody_watches_nothing_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, io.StringIO(), [1, 2], 3) == ""


def test_work_that_was_none_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), [], 0) == ""


def test_small_steps_are_not_all_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, Terminal(), [1] * 100_000, 100_000).count("verified") == STEPS + 1


def test_more_than_was_foreseen_is_a_hundred_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "100 %" in drawn(monkeypatch, Terminal(), [500], 100)
