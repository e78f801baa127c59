"""Where two rows of leaves differ, and how."""

from __future__ import annotations

import pytest

import app.store.compare as module
from app.store.compare import Difference, differences

SIGNED = [bytes([number]) for number in range(20)]


def told(found: list[bytes]) -> list[Difference]:
    return list(differences(SIGNED, found))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(SIGNED, [], id="nothing"),
        pytest.param([*SIGNED, b"new"], [], id="lines behind the signed ones"),
        pytest.param([*SIGNED[:5], b"?", *SIGNED[6:]], [Difference("altered", 5, 1, 1)], id="one altered"),
        pytest.param([b"?", *SIGNED[1:]], [Difference("altered", 0, 1, 1)], id="the first altered"),
        pytest.param([*SIGNED[:-1], b"?"], [Difference("altered", 19, 1, 1)], id="the last altered"),
        pytest.param([*SIGNED[:5], *SIGNED[7:]], [Difference("removed", 5, 2, 0)], id="two removed"),
        pytest.param(SIGNED[1:], [Difference("removed", 0, 1, 0)], id="the first removed"),
        pytest.param([*SIGNED[:5], b"+", *SIGNED[5:]], [Difference("inserted", 5, 0, 1)], id="one inserted"),
        pytest.param(
            [*SIGNED[:5], SIGNED[6], SIGNED[5], *SIGNED[7:]],
            [Difference("reordered", 5, 2, 2)],
            id="two in another order",
        ),
        pytest.param(SIGNED[:12], [Difference("truncated", 12, 8, 0)], id="the end cut off"),
        pytest.param([], [Difference("truncated", 0, 20, 0)], id="everything cut off"),
        pytest.param(
            [*SIGNED[:3], b"?", *SIGNED[4:10], *SIGNED[11:], b"new"],
            [Difference("altered", 3, 1, 1), Difference("removed", 10, 1, 0)],
            id="two faults",
        ),
        pytest.param([b"?"] * 20, [Difference("altered", 0, 20, 20)], id="everything altered"),
    ],
)
def test_each_difference_is_named_with_its_place(found: list[bytes], expected: list[Difference]) -> None:
    assert told(found) == expected


def test_rows_that_agree_nowhere_within_the_window_are_told_once_a_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WINDOW", 8)

    assert [(each.at, each.missing, each.extra) for each in told([b"?"] * 20)] == [
        (0, 8, 8),
        (8, 8, 8),
        (16, 4, 4),
    ]
