"""The places of secrets: united before they are replaced, never inside a mask."""

from __future__ import annotations

from app.redact.spans import OPAQUE, Span, hide_masks, outside_masks, replaced, united

MASK = "[redacted:jwt:0a1b2c3d]"


def test_overlapping_spans_become_one_of_the_first_kind() -> None:
    spans = [Span(4, 9, "jwt"), Span(0, 5, "field", "plain"), Span(20, 30, "token"), Span(22, 25, "known")]

    assert united(spans) == [Span(0, 9, "field"), Span(20, 30, "token")]


def test_spans_that_only_touch_stay_apart() -> None:
    assert united([Span(3, 5, "jwt"), Span(0, 3, "field")]) == [Span(0, 3, "field"), Span(3, 5, "jwt")]


def test_of_two_spans_with_one_start_the_longer_says_the_kind() -> None:
    assert united([Span(0, 3, "jwt"), Span(0, 8, "field")]) == [Span(0, 8, "field")]


def test_a_mask_is_hidden_at_its_full_length() -> None:
    assert hide_masks(f"a{MASK}b") == "a" + OPAQUE * len(MASK) + "b"


def test_what_only_resembles_a_mask_is_not_hidden() -> None:
    forged = "[redacted:mysecret:0a1b2c3d] [redacted:jwt:0a1b2c3] [redacted:jwt:0A1B2C3D]"

    assert hide_masks(forged) == forged


def test_only_the_parts_outside_of_masks_are_left_of_a_span() -> None:
    hidden = hide_masks(f"ab{MASK}, {MASK}cd")
    end = len(MASK)

    assert list(outside_masks([Span(0, len(hidden), "field")], hidden)) == [
        Span(0, 2, "field"),
        Span(4 + 2 * end, 6 + 2 * end, "field"),
    ]


def test_nothing_is_left_of_a_span_that_is_a_mask() -> None:
    assert list(outside_masks([Span(0, len(MASK), "field")], hide_masks(MASK))) == []


def test_a_span_without_masks_is_left_whole() -> None:
    assert list(outside_masks([Span(0, 2, "field", "x")], "--")) == [Span(0, 2, "field", "x")]


def test_each_span_gives_way_to_its_mask() -> None:
    assert (
        replaced("one two three", [Span(0, 3, "jwt"), Span(8, 13, "known")], lambda span: span.kind)
        == "jwt two known"
    )
