"""D06: an instant has an offset; the same one is the same in every spelling, wherever the server believes to be."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from app.records.codec import body, line
from app.records.events import Asserted
from app.records.ulid import ulid_text

ZONES = ["Asia/Tokyo", "America/New_York", "UTC"]
AT = "2026-03-01T10:00:00.000000Z"

# An instant, and whether the claim of 10:00 UTC was asserted then or later, and before.
INSTANTS: dict[str, tuple[str, bool, bool]] = {
    "the very instant": ("2026-03-01T10:00:00Z", True, False),
    "the same in Tokyo": ("2026-03-01T19:00:00+09:00", True, False),
    "the same in New York": ("2026-03-01T05:00:00-05:00", True, False),
    "the same in small letters": ("2026-03-01t10:00:00z", True, False),
    "the same with a fraction": ("2026-03-01T10:00:00.000000Z", True, False),
    "the same digits nine hours before": ("2026-03-01T10:00:00+09:00", True, False),
    "the same digits five hours later": ("2026-03-01T10:00:00-05:00", False, True),
    "a microsecond later": ("2026-03-01T10:00:00.000001Z", False, True),
    "the year 1": ("0001-01-01T00:00:00Z", True, False),
    "the year 9999": ("9999-12-31T23:59:59Z", False, True),
}

FORM = "expected a date and time with an offset, such as 2026-03-01T10:00:00Z (RFC 3339)"
CALENDAR = "no such date and time in the years 1 to 9999 (UTC)"
REFUSED: dict[str, tuple[str, str]] = {
    "no offset": ("2026-03-01T10:00:00", FORM),
    "a date": ("2026-03-01", FORM),
    "an epoch number": ("1772359200", FORM),
    "words": ("yesterday", FORM),
    "an empty text": ("", FORM),
    "a leap second": ("2026-06-30T23:59:60Z", CALENDAR),
    "the hour 24": ("2026-03-01T24:00:00Z", CALENDAR),
    "30 February": ("2026-02-30T10:00:00Z", CALENDAR),
    "month 13": ("2026-13-01T10:00:00Z", CALENDAR),
    "an offset of a day": ("2026-03-01T10:00:00+24:00", CALENDAR),
    "before the year 1 in UTC": ("0001-01-01T00:00:00+09:00", CALENDAR),
    "after the year 9999 in UTC": ("9999-12-31T23:59:59-09:00", CALENDAR),
}

UNKNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "observed_at of a claim": ("assert", {"observed_at": AT}),
    "about with its times": ("assert", {"about": {"valid_from": AT, "valid_until": AT}}),
    "evidence of a document": ("assert", {"evidence": [{"type": "document", "version_id": "d_1"}]}),
    "as_of of a query": ("query", {"as_of": AT}),
    "a number for a time": ("query", {"asserted_after": 1772359200}),
    "no text for a time": ("query", {"asserted_before": True}),
}


@pytest.fixture(params=ZONES)
def facts(request: pytest.FixtureRequest, server: Any, tmp_path: Any) -> Any:
    """A server that believes to be somewhere, with one claim of 10:00 UTC."""
    file = tmp_path / "server0/data/projects/cases/logs/claims.jsonl"
    event = Asserted("x answers", [], "anna", [])
    started = server(TZ=request.param)
    file.parent.mkdir(parents=True)
    file.write_bytes(line(1, f"c_{ulid_text(1)}", AT, body(event)))
    started.initialize()
    return started


def test_d06_an_instant_is_the_same_in_every_spelling_and_zone(facts: Any) -> None:
    for name, (instant, _, _) in INSTANTS.items():
        facts.recall(f"after {name}", "query", asserted_after=instant)
        facts.recall(f"before {name}", "query", asserted_before=instant)
    found = {
        name: (
            instant,
            bool(facts.content(f"after {name}")["matched"]),
            bool(facts.content(f"before {name}")["matched"]),
        )
        for name, (instant, _, _) in INSTANTS.items()
    }

    assert found == INSTANTS


def test_d06_what_is_no_instant_is_refused_with_the_reason_and_no_more(facts: Any) -> None:
    for name, (text, _) in REFUSED.items():
        facts.recall(name, "query", asserted_after=text)
        facts.recall(f"before {name}", "query", asserted_before=text)

    for name, (_, why) in REFUSED.items():
        after, before = facts.content(name), facts.content(f"before {name}")
        assert (after["code"], after["field"], after["message"]) == (
            "invalid_arguments",
            "asserted_after",
            f"asserted_after: {why}",
        )
        assert (before["field"], before["message"]) == ("asserted_before", f"asserted_before: {why}")


def test_d06_arguments_that_recall_does_not_have_are_refused(facts: Any) -> None:
    claim = {"statement": "y answers", "observed_by": "anna"}
    for name, (tool, arguments) in UNKNOWN.items():
        facts.recall(name, tool, **(claim if tool == "assert" else {}), **arguments)
    refused = {name: facts.content(name)["code"] for name in UNKNOWN}

    assert refused == dict.fromkeys(UNKNOWN, "invalid_arguments")
    assert len(facts.records("claims")) == 1


def test_d06_what_is_stored_is_utc_and_what_is_told_has_its_offset(facts: Any) -> None:
    facts.recall(1, "assert", statement="y answers", observed_by="anna")
    told = facts.content(1)
    stored = facts.records("claims")[1]["at"]

    assert stored.endswith("Z")
    assert len(stored) == len(AT)
    assert datetime.fromisoformat(told["asserted_at"]) == datetime.fromisoformat(f"{stored[:-4]}Z")
    assert datetime.fromisoformat(told["observed_at"]).utcoffset() is not None
