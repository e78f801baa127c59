"""Claims as they are answered: each part with its own age, brief or full, whatever stands in the line."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.recall.age import Moment, Witness
from app.recall.answer import (
    NOTE_TEXT,
    SHORT_TEXT,
    Detail,
    View,
    claim,
    embedded_claim,
    embedded_observation,
    shown,
    taken_back,
)
from app.records.codec import Record
from app.records.events import Asserted, Measured, Retracted

SECOND = 1_000_000_000
AT = "2026-03-01T10:00:00.000000Z"
NOW = Moment(1_772_359_200 * SECOND + 10 * SECOND, 100 * SECOND)
"""Ten seconds after `AT`."""
MEASURED = Measured(
    "facts.measure.http",
    {"url": "http://h.test/", "n": 1},
    "2026-03-01T09:59:30.000000Z",
    {"a": 1},
    True,
    None,
)


def view(detail: Detail = "full", stale_seconds: float = 3600, witness: Witness | None = None) -> View:
    return View(NOW, witness or Witness(), stale_seconds, lambda name: name.replace(".", "_"), detail)


def event(*evidence: dict[str, Any], **members: Any) -> Asserted:
    return Asserted(
        **{"statement": "It listens.", "evidence": [*evidence], "observed_by": "me", "tags": ["a"], **members}
    )


def observation(seconds: int, **members: Any) -> dict[str, Any]:
    """A measurement that was taken so long before `AT`."""
    time = datetime.fromisoformat(AT) - timedelta(seconds=seconds)
    return {
        "type": "observation",
        "observation_id": "o_1",
        "observed_at": time.isoformat(),
        "tool": "facts.measure.http",
        "arguments": {"url": f"http://h.test/{seconds}"},
        "ok": True,
        "error": None,
        "data": {"kind": "http"},
        **members,
    }


def test_a_claim_is_answered_with_everything_that_was_said() -> None:
    told = claim("c_1", AT, event(about={"subject": "s"}, source="a book", idempotency_key="k"), None, view())

    assert told == {
        "claim_id": "c_1",
        "statement": "It listens.",
        "evidence": [],
        "observed_by": "me",
        "tags": ["a"],
        "about": {"subject": "s"},
        "source": "a book",
        "idempotency_key": "k",
        "asserted_at": shown(AT),
        "age_seconds": 10.0,
        "age_basis": "wall_clock",
        "stale": False,
        "retracted": False,
        "retraction": None,
        "remeasure_with": None,
    }


def test_what_was_not_said_is_left_out() -> None:
    assert {"about", "source", "idempotency_key"} & claim("c_1", AT, event(), None, view()).keys() == set()


def test_each_part_of_a_claim_has_its_own_age() -> None:
    cited = {"type": "claim", "claim_id": "c_0", "asserted_at": "2026-03-01T09:59:00.000000Z"}
    note = {"type": "note", "text": "seen"}

    told = claim("c_1", AT, event(observation(5), observation(20), cited, note), None, view())

    assert [told["age_seconds"], *(item["age_seconds"] for item in told["evidence"])] == [10, 15, 30, 70, 10]


def test_what_this_process_saw_is_aged_by_its_own_clock() -> None:
    witness = Witness()
    for seconds, record_id in enumerate(["c_1", "o_1", "r_1"], 1):
        witness.saw(record_id, Moment(0, NOW.boot_ns - seconds * SECOND))
    retraction = Record(2, "r_1", AT, Retracted("c_1", "wrong", None), b"")

    told = claim("c_1", AT, event(observation(5), {"type": "note"}), retraction, view(witness=witness))

    parts = [told, *told["evidence"], told["retraction"]]
    assert [part["age_seconds"] for part in parts] == [1.0, 2.0, 1.0, 3.0]
    assert {part["age_basis"] for part in parts} == {"monotonic"}


@pytest.mark.parametrize(
    ("evidence", "limit", "stale"),
    [
        pytest.param([], 10, False, id="as old as the limit"),
        pytest.param([], 9.999, True, id="older than the limit"),
        pytest.param([observation(0)], 10, False, id="a measurement as old as the limit"),
        pytest.param([observation(1)], 10, True, id="a measurement that is older"),
        pytest.param([observation(1), observation(0)], 10, True, id="the oldest is older, first"),
        pytest.param([observation(0), observation(1)], 10, True, id="the oldest is older, last"),
        pytest.param([{"type": "note", "text": "x"}], 10, False, id="a note has no age of its own"),
        pytest.param(
            [{"type": "claim", "claim_id": "c_0", "asserted_at": "2020-01-01T00:00:00Z"}],
            10,
            False,
            id="a cited claim does not count",
        ),
        pytest.param([observation(0, observed_at="nonsense")], 1e8, True, id="a time that is none"),
        pytest.param(
            [observation(0, observed_at="2026-03-01T11:00:00Z")], 5, False, id="a newer measurement"
        ),
    ],
)
def test_stale_is_arithmetic_on_the_oldest_measurement(
    evidence: list[dict[str, Any]], limit: float, *, stale: bool
) -> None:
    assert claim("c_1", AT, event(*evidence), None, view(stale_seconds=limit))["stale"] is stale


def test_a_claim_is_measured_again_as_its_first_measurement_was() -> None:
    note = {"type": "note", "text": "seen"}

    told = claim("c_1", AT, event(note, observation(2), observation(3)), None, view("brief"))

    first = {"tool": "facts_measure_http", "arguments": {"url": "http://h.test/2"}, "omitted": []}
    assert told["remeasure_with"] == told["evidence"][1]["remeasure_with"] == first
    assert told["evidence"][2]["remeasure_with"]["arguments"] == {"url": "http://h.test/3"}


def test_a_masked_argument_is_left_out_and_named() -> None:
    masked = observation(
        1, arguments={"url": "http://h.test/", "headers": {"A": "[redacted:header:0123abcd]"}}
    )

    told = claim("c_1", AT, event(masked), None, view())

    assert told["remeasure_with"]["omitted"] == ["/headers/A"]
    assert told["remeasure_with"]["arguments"] == {"url": "http://h.test/", "headers": {}}
    assert told["evidence"][0]["arguments"] == masked["arguments"]


def test_a_retraction_stands_in_its_claim() -> None:
    retraction = Record(2, "r_1", "2026-03-01T10:00:04.000000Z", Retracted("c_1", "wrong", "you"), b"")

    told = claim("c_1", AT, event(), retraction, view())

    assert told["retracted"] is True
    assert told["retraction"] == {
        "retraction_id": "r_1",
        "claim_id": "c_1",
        "reason": "wrong",
        "retracted_by": "you",
        "retracted_at": shown("2026-03-01T10:00:04.000000Z"),
        "age_seconds": 6.0,
        "age_basis": "wall_clock",
    }


def test_a_line_that_is_no_retraction_has_no_details_to_show() -> None:
    told = claim("c_1", AT, event(), Record(2, "c_2", AT, event(), b""), view())

    assert (told["retracted"], told["retraction"]) == (True, None)


def test_a_retraction_by_nobody_says_so() -> None:
    assert taken_back("r_1", AT, Retracted("c_1", "wrong", None), view())["retracted_by"] is None


def test_full_has_everything_that_was_measured() -> None:
    data = {"kind": "http", "body": "x" * 9999, "headers": [["a", "b"]]}

    (told,) = claim("c_1", AT, event(observation(1, data=data)), None, view())["evidence"]

    assert told == {
        "type": "observation",
        "observation_id": "o_1",
        "observed_at": shown("2026-03-01T09:59:59.000000Z"),
        "age_seconds": 11.0,
        "age_basis": "wall_clock",
        "tool": "facts_measure_http",
        "ok": True,
        "error": None,
        "data": data,
        "remeasure_with": {
            "tool": "facts_measure_http",
            "arguments": {"url": "http://h.test/1"},
            "omitted": [],
        },
        "arguments": {"url": "http://h.test/1"},
    }


def test_brief_keeps_what_is_read_at_a_glance() -> None:
    kept = {
        "kind": "http",
        "http_status": 200,
        "ms": 1.5,
        "complete": True,
        "target": {"host": "h.test", "port": 80},
        "longest": "x" * SHORT_TEXT,
    }
    left_out: dict[str, Any] = {
        "body": "ok",
        "long": "x" * (SHORT_TEXT + 1),
        "headers": [],
        "bytes": {"sent": 1},
        "null": None,
    }

    (told,) = claim("c_1", AT, event(observation(1, data=kept | left_out)), None, view("brief"))["evidence"]

    assert told["data"] == kept
    assert "arguments" not in told


@pytest.mark.parametrize("data", [None, [1], "text"])
def test_what_was_measured_in_another_shape_is_shown_as_it_is(data: Any) -> None:
    (told,) = claim("c_1", AT, event(observation(1, data=data)), None, view("brief"))["evidence"]

    assert told["data"] == data


@pytest.mark.parametrize(
    ("detail", "length", "shown_as"),
    [
        pytest.param("brief", NOTE_TEXT, "x" * NOTE_TEXT, id="brief, short"),
        pytest.param(
            "brief",
            1025,
            "x" * 1024 + "… (1025 characters; detail full has all)",
            id="brief, cut and said so",
        ),
        pytest.param("full", 5000, "x" * 5000, id="full"),
    ],
)
def test_a_note_is_cut_only_in_brief(detail: Detail, length: int, shown_as: str) -> None:
    told = claim("c_1", AT, event({"type": "note", "text": "x" * length}), None, view(detail))

    assert told["evidence"] == [
        {"type": "note", "text": shown_as, "age_seconds": 10.0, "age_basis": "wall_clock"}
    ]


def test_evidence_that_others_wrote_oddly_is_shown_and_breaks_nothing() -> None:
    odd = event(
        {"type": "observation"}, {"type": "claim"}, {"type": "note", "text": 7}, {}, {"type": "later"}
    )

    told = claim("c_1", AT, odd, None, view("brief"))

    assert [item["age_seconds"] for item in told["evidence"]] == [
        NOW.wall_ns / SECOND,
        NOW.wall_ns / SECOND,
        10.0,
        10.0,
        10.0,
    ]
    assert told["evidence"][0]["remeasure_with"]["arguments"] == {}


def test_a_measurement_is_embedded_whole() -> None:
    record = Record(1, "o_1", AT, MEASURED, b"")

    assert embedded_observation(record, MEASURED) == {
        "type": "observation",
        "observation_id": "o_1",
        "observed_at": "2026-03-01T09:59:30.000000Z",
        "tool": "facts.measure.http",
        "arguments": {"url": "http://h.test/", "n": 1},
        "ok": True,
        "error": None,
        "data": {"a": 1},
    }


def test_a_claim_is_embedded_by_what_it_says() -> None:
    cited = event({"type": "note", "text": "deep"}, source="a book")

    assert embedded_claim(Record(1, "c_1", AT, cited, b""), cited) == {
        "type": "claim",
        "claim_id": "c_1",
        "asserted_at": AT,
        "statement": "It listens.",
        "observed_by": "me",
        "tags": ["a"],
    }


def test_a_time_is_shown_with_the_offset_of_the_zone_here() -> None:
    told = datetime.fromisoformat(shown(AT))

    assert told == datetime.fromisoformat(AT)
    assert told.utcoffset() == told.astimezone().utcoffset()
    assert shown(AT)[19:23] == ".000"


@pytest.mark.parametrize("text", ["2026-03-01T10:00:00", "long ago", "", "0001-01-01"])
def test_a_time_that_says_no_instant_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text
