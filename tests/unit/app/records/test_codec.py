"""Events to lines and back: golden lines, what is escaped, and what each kind of damage is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
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
    tail,
)
from app.records.events import Asserted, Checkpointed, Event, Measured, Retracted
from app.records.ulid import ulid_value

GOLDEN = Path(__file__).parents[3] / "golden"
ULID = "01K5Z9K2QX7T4BVWRM3P8QJHYD"
AT = "2026-09-22T08:14:03.482119Z"


def measured(data: dict[str, Any] | None = None, arguments: dict[str, Any] | None = None) -> Measured:
    return Measured("facts.measure.tcp", arguments or {}, AT, data, True, None)


def stored(event: Event) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(line(1, f"o_{ULID}", AT, body(event)))
    return decoded


GOLDEN_EVENTS: dict[str, Event] = {
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
    "asserted-v1": Asserted(
        "The service on port 8080 answers\u2028with 200.",
        [
            {
                "type": "observation",
                "observation_id": f"o_{ULID}",
                "observed_at": "2026-09-22T08:14:03.471002Z",
                "tool": "facts.measure.http",
                "arguments": {"url": "http://127.0.0.1:8080/straße", "method": "GET"},
                "ok": True,
                "error": None,
                "data": {"kind": "http", "http_status": 200},
            },
            {
                "type": "claim",
                "claim_id": "c_01K5Z9K2QX7T4BVWRM3P8QJHYA",
                "asserted_at": "2026-09-22T08:10:00.000000Z",
                "statement": "It listens.",
                "observed_by": "agent",
                "tags": [],
            },
            {"type": "note", "text": "Seen in the log: token=[redacted:parameter:0123abcd]"},
        ],
        "agent",
        ["service", "größe"],
        {"subject": "service"},
        "the runbook",
        "key-1",
    ),
    "asserted-least-v1": Asserted("It listens.", [], "agent", []),
    "retracted-v1": Retracted("c_01K5Z9K2QX7T4BVWRM3P8QJHYG", "It was another port.", "operator"),
    "retracted-by-nobody-v1": Retracted("c_01K5Z9K2QX7T4BVWRM3P8QJHYH", "Wrong.", None),
    "checkpointed-v1": Checkpointed(
        "claims",
        2,
        1234,
        "4tf8CaF5+iIh+wbPoiFpmIzNv5tJxIyXfOVloXlstZI=",
        "facts-mcp/p/claims\n"
        "2\n"
        "4tf8CaF5+iIh+wbPoiFpmIzNv5tJxIyXfOVloXlstZI=\n"
        "bytes 1234\n"
        "time 2026-09-22T08:15:01.000000Z\n"
        "\n"
        "— facts-mcp/p/claims "
        "nDC1ysm2hIzI9ZgCjLVzGQb8fULDGWSxRztfF9MrozHvAG4PjhRX3DPDn/DeVXOBFIQ66rLrNuzLg61MvNo+JeQ3GQs=\n",
    ),
}


@pytest.mark.parametrize("name", GOLDEN_EVENTS)
def test_a_golden_line_is_decoded_and_encoded_to_the_same_bytes(name: str) -> None:
    golden = (GOLDEN / f"{name}.jsonl").read_bytes()

    record = decode(golden[:-1])

    assert isinstance(record, Record)
    assert record == Record(record.seq, record.id, record.at, GOLDEN_EVENTS[name], golden[:-1])
    assert line(record.seq, record.id, record.at, body(record.event)) == golden


def test_every_type_of_event_has_a_golden_line() -> None:
    assert {type(event) for event in GOLDEN_EVENTS.values()} == set(get_args(Event))
    assert {path.stem for path in GOLDEN.iterdir()} == {*GOLDEN_EVENTS, "future-v2", "asserted-v2"}


def test_what_was_not_said_is_left_out_of_a_claim_and_null_in_a_retraction() -> None:
    members = {name: list(stored(event)) for name, event in GOLDEN_EVENTS.items()}

    head_members = ["v", "seq", "id", "at", "type"]
    assert members["asserted-least-v1"] == [*head_members, "statement", "evidence", "observed_by", "tags"]
    assert members["asserted-v1"] == [
        *members["asserted-least-v1"],
        *["about", "source", "idempotency_key"],
    ]
    assert members["retracted-by-nobody-v1"] == members["retracted-v1"]


@pytest.mark.parametrize(
    ("name", "future"),
    [
        ("future-v2", Future(2, "measured", 9, "o_01K5Z9K2QX7T4BVWRM3P8QJHYF", b"")),
        ("asserted-v2", Future(2, "asserted", 6, "c_01K5Z9K2QX7T4BVWRM3P8QJHYN", b"")),
    ],
)
def test_a_line_of_a_later_version_is_kept_raw(name: str, future: Future) -> None:
    golden = (GOLDEN / f"{name}.jsonl").read_bytes()[:-1]

    assert decode(golden) == msgspec.structs.replace(future, raw=golden)


def test_the_tail_of_a_record_is_what_its_event_gives_whoever_wrote_the_line() -> None:
    golden = (GOLDEN / "asserted-v1.jsonl").read_bytes()[:-1]
    other = json.dumps(json.loads(golden), ensure_ascii=False, indent=1).replace("\n", " ").encode()
    own, foreign = decode(golden), decode(other)

    assert isinstance(own, Record)
    assert isinstance(foreign, Record)
    assert foreign.raw != own.raw
    assert tail(own) == tail(foreign) == golden[len(head(own.seq, own.id, own.at)) :]


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
