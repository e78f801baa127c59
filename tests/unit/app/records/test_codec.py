"""Events to lines and back: golden lines, what is escaped, and what each kind of damage is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.records.codec import (
    MAX_LINE_BYTES,
    Damaged,
    Future,
    Place,
    Record,
    Unstorable,
    body,
    decode,
    head,
    line,
    place_of,
    storable,
)
from app.records.events import Measured
from app.records.ulid import ulid_value

GOLDEN = Path(__file__).parents[3] / "golden"
ULID = "01K5Z9K2QX7T4BVWRM3P8QJHYD"
AT = "2026-09-22T08:14:03.482119Z"


def measured(data: dict[str, Any] | None = None, arguments: dict[str, Any] | None = None) -> Measured:
    return Measured("facts.measure.tcp", arguments or {}, AT, data, True, None)


def stored(event: Measured) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(line(1, f"o_{ULID}", AT, body(event)))
    return decoded


GOLDEN_EVENTS = {
    "measured-v1": Measured(
        "facts.measure.http",
        {"url": "http://127.0.0.1:8080/straße", "method": "GET"},
        "2026-09-22T08:14:03.471002Z",
        {"kind": "http", "http_status": 200, "text": "a\u2028b\u2029c\n"},
        True,
        None,
    ),
    "measured-failed-v1": Measured(
        "facts.measure.tcp",
        {"target": "127.0.0.1:9"},
        "2026-09-22T08:14:04.999001Z",
        None,
        False,
        {"code": "refused", "phase": "connect", "message": "connection refused"},
    ),
}


@pytest.mark.parametrize("name", GOLDEN_EVENTS)
def test_a_golden_line_is_decoded_and_encoded_to_the_same_bytes(name: str) -> None:
    golden = (GOLDEN / f"{name}.jsonl").read_bytes()

    record = decode(golden[:-1])

    assert isinstance(record, Record)
    assert record == Record(record.seq, record.id, record.at, GOLDEN_EVENTS[name], golden[:-1])
    assert line(record.seq, record.id, record.at, body(record.event)) == golden


def test_a_line_of_a_later_version_is_kept_raw() -> None:
    golden = (GOLDEN / "future-v2.jsonl").read_bytes()[:-1]

    assert decode(golden) == Future(2, "measured", 9, "o_01K5Z9K2QX7T4BVWRM3P8QJHYF", golden)


def test_a_line_of_an_unknown_type_is_kept_raw() -> None:
    text = head(3, f"x_{ULID}", AT) + b'"type":"dreamt"}'

    assert decode(text) == Future(1, "dreamt", 3, f"x_{ULID}", text)


def test_a_later_line_without_a_readable_place_is_kept_raw() -> None:
    assert decode(b'{"v":3,"seq":"nine"}') == Future(3, None, None, None, b'{"v":3,"seq":"nine"}')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(b"", "blank", id="an empty line"),
        pytest.param(b" \r", "blank", id="only white space"),
        pytest.param(b"\0\0\0", "nul", id="a zeroed block"),
        pytest.param(b"\0" + head(1, f"o_{ULID}", AT), "nul", id="a zeroed block with a record behind it"),
        pytest.param(b"\xef\xbb\xbf{}", "byte_order_mark", id="a byte order mark"),
        pytest.param(b'{"v":1,"x":"\xff"}', "not_utf8", id="bytes that are not UTF-8"),
        pytest.param(b"garbage", "not_json", id="garbage"),
        pytest.param(b'{"a":1}{"b":2}', "not_a_record", id="two glued objects without a version"),
        pytest.param(b'{"v":1}{"v":1}', "not_json", id="two glued objects"),
        pytest.param(b'{"v":1,"x":' + b"[" * 100_000, "not_json", id="nested without end"),
        pytest.param(b"{}", "not_a_record", id="an object without members"),
        pytest.param(b"[1]", "not_json", id="not an object"),
        pytest.param(b'{"v":1}', "not_a_record", id="no type"),
        pytest.param(b'{"v":1,"x":[1,}', "not_json", id="broken JSON"),
        pytest.param(b'{"v":0,"type":"measured"}', "not_a_record", id="version 0"),
        pytest.param(b'{"v":2,"type":7}', "not_a_record", id="a type that is no text"),
        pytest.param(head(1, f"o_{ULID}", AT) + b'"type":"measured"}', "not_a_record", id="missing members"),
        pytest.param(b'{"v":1,"seq":1,"id":"o_x","at":"","type":"measured"}', "not_a_record", id="no ULID"),
        pytest.param(
            b'{"v":1,"seq":1,"id":"o_%b","at":5,"type":"measured"}' % ULID.encode(),
            "not_a_record",
            id="no time",
        ),
    ],
)
def test_damage_is_named(text: bytes, reason: str) -> None:
    found = decode(text)

    assert isinstance(found, Damaged)
    assert found.reason == reason


def test_a_carriage_return_before_the_line_feed_does_no_harm() -> None:
    text = line(1, f"o_{ULID}", AT, body(measured()))[:-1] + b"\r"

    assert decode(text) == Record(1, f"o_{ULID}", AT, measured(), text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(head(4, f"o_{ULID}", AT)[:-1] + b"}", True, id="any version 1 line"),
        pytest.param(
            b'\xef\xbb\xbf{"v":9,"seq":4,"id":"c_%b"}' % ULID.encode(), True, id="later, behind a mark"
        ),
        pytest.param(b'{"v":9,"seq":true,"id":"c_%b"}' % ULID.encode(), False, id="a seq that is no number"),
        pytest.param(b'{"v":9,"seq":0,"id":"c_%b"}' % ULID.encode(), False, id="a seq below one"),
        pytest.param(
            b'{"v":9,"seq":4,"id":"C_%b"}' % ULID.encode(), False, id="a prefix that is no letter a-z"
        ),
        pytest.param(b'{"v":9,"seq":4,"id":"cc%b"}' % ULID.encode(), False, id="no underscore"),
        pytest.param(b'{"v":9,"seq":4,"id":"c"}', False, id="a short id"),
    ],
)
def test_the_place_of_a_line(text: bytes, place: bool) -> None:  # noqa: FBT001 - a column of the table
    value = ulid_value(ULID)

    assert value is not None
    assert place_of(text) == (Place(4, value) if place else None)


def test_damage_has_no_place() -> None:
    assert place_of(b"garbage") == Damaged("not_json")


def test_line_separators_and_line_breaks_are_escaped_also_in_keys() -> None:
    text = line(1, f"o_{ULID}", AT, body(measured({"k\u2028": "v\u2029\n\r\u0085"})))

    assert text.count(b"\n") == 1
    assert "\u2028" not in text.decode()
    assert "\u2029" not in text.decode()
    assert json.loads(text)["data"] == {"k\u2028": "v\u2029\n\r\u0085"}


def test_a_lone_surrogate_becomes_visible_text() -> None:
    event = measured({"k\udfff": ["a\ud800b", 1]}, {"url": "é"})

    assert stored(event)["data"] == {"k\\udfff": ["a\\ud800b", 1]}
    assert stored(event)["arguments"] == {"url": "é"}


def test_numbers_that_json_has_no_word_for_become_null() -> None:
    event = measured({"a": float("nan"), "b": float("inf"), "c": -float("inf"), "d": 10**30})

    assert stored(event)["data"] == {"a": None, "b": None, "c": None, "d": 10**30}


def test_an_event_nested_too_deeply_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(Unstorable):
        body(measured({"deep": deep}))


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{}", id="no type"),
        pytest.param(b'{"type":"measured"', id="no end"),
        pytest.param(b'{"type":"measured",\n"a":1}', id="a line feed"),
        pytest.param(b'{"type":"measured",\r"a":1}', id="a carriage return"),
        pytest.param(b'{"type":"\xff"}', id="not UTF-8"),
        pytest.param(b'{"type":"' + b"x" * MAX_LINE_BYTES + b'"}', id="too long"),
    ],
)
def test_a_body_that_would_not_be_one_line_is_refused(bad: bytes) -> None:
    with pytest.raises(Unstorable):
        storable(bad)


def test_the_longest_storable_body_makes_a_line_within_the_limit() -> None:
    longest = b'{"type":"' + b"x" * (MAX_LINE_BYTES - 211) + b'"}'

    assert len(line(2**63, f"o_{ULID}", AT, longest)) <= MAX_LINE_BYTES
