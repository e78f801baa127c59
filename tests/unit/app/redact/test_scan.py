"""All detectors at once, in every reading."""

from __future__ import annotations

from collections.abc import Iterator

from app.redact.scan import secrets_of
from app.redact.spans import Span


def test_a_secret_is_found_in_an_encoded_reading_at_its_place_in_the_raw_text() -> None:
    text = "u=%3Ftoken%3Ds3%26a"

    assert secrets_of(text) == [Span(text.index("s3"), text.index("s3") + 2, "parameter")]


def test_overlapping_findings_are_one() -> None:
    text = "Authorization: Bearer ghp_abcdefgh12"

    assert secrets_of(text) == [Span(22, len(text), "authorization")]


def test_nothing_is_found_in_masks() -> None:
    assert (
        secrets_of("token=[redacted:parameter:0a1b2c3d] authorization: Bearer [redacted:jwt:0a1b2c3d]") == []
    )


def test_a_further_detector_is_asked_too_and_may_find_nothing() -> None:
    def detector(text: str) -> Iterator[Span]:
        yield Span(3, 3, "known")
        yield Span(0, len(text), "known", "x")

    assert secrets_of("abc", (detector,)) == [Span(0, 3, "known", "x")]
