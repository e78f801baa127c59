"""Laws of names, ids, events and lines: whatever goes in, the rules hold."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.records.codec import Damaged, Future, Record, body, decode, line, place_of
from app.records.events import Measured
from app.records.names import BadProjectName, normalise_project
from app.records.ulid import LAST, UlidExhausted, next_ulid, ulid_text, ulid_value

ULIDS = st.integers(0, LAST)
ANY_TEXT = st.text(st.characters())
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | ANY_TEXT | st.integers(-(10**30), 10**30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(ANY_TEXT, JSON, max_size=4)
EVENTS = st.builds(
    Measured, ANY_TEXT, OBJECTS, ANY_TEXT, st.none() | OBJECTS, st.booleans(), st.none() | OBJECTS
)
AT = "2026-09-22T08:14:03.000000Z"


def as_stored(value: Any) -> Any:
    """What the documented losses leave: no surrogates, no NaN, no infinity."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {as_stored(key): as_stored(inner) for key, inner in value.items()}
    return [as_stored(inner) for inner in value] if isinstance(value, list) else value


@given(ANY_TEXT | st.text("aB /._-\\\t\u2003", max_size=70))
def test_a_project_name_is_canonical_or_refused(text: str) -> None:
    try:
        name = normalise_project(text)
    except BadProjectName:
        return

    assert re.fullmatch(r"[a-z0-9._-]{1,64}", name)
    assert name not in {".", ".."}
    assert normalise_project(name) == name


@given(st.integers(-1, 2**48), st.none() | ULIDS, st.integers(0, 2**80 - 1))
def test_an_id_is_greater_than_the_one_before_or_there_is_none(
    now: int, floor: int | None, bits: int
) -> None:
    try:
        value = next_ulid(now, floor, bits)
    except UlidExhausted:
        assert floor == LAST or now >= 2**48
        return

    assert value > (-1 if floor is None else floor)
    assert value >> 80 >= min(max(now, 0), 2**48 - 1)


@given(ULIDS, ULIDS)
def test_ids_are_ordered_like_their_texts(one: int, other: int) -> None:
    assert (one < other) == (ulid_text(one) < ulid_text(other))
    assert ulid_value(ulid_text(one)) == one


@given(ANY_TEXT | st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26))
def test_only_a_canonical_text_is_an_id(text: str) -> None:
    value = ulid_value(text)

    assert value is None or ulid_text(value) == text


@given(EVENTS, st.integers(1, 2**63), ULIDS)
def test_an_event_is_one_line_of_utf8_that_says_the_same(event: Measured, seq: int, ulid: int) -> None:
    text = line(seq, f"o_{ulid_text(ulid)}", AT, body(event))

    assert text.endswith(b"\n")
    assert len(text.decode().splitlines()) == 1 + text.decode().count("\x85")
    stored = json.loads(text)
    assert (stored["seq"], stored["id"], stored["at"]) == (seq, f"o_{ulid_text(ulid)}", AT)
    assert stored["arguments"] == as_stored(event.arguments)
    assert stored["data"] == as_stored(event.data)


@given(EVENTS, st.integers(1, 2**63), ULIDS)
def test_a_line_is_read_back_as_it_was_written(event: Measured, seq: int, ulid: int) -> None:
    text = line(seq, f"o_{ulid_text(ulid)}", AT, body(event))

    record = decode(text[:-1])

    assert isinstance(record, Record)
    assert (record.seq, record.id, record.at, record.raw) == (seq, f"o_{ulid_text(ulid)}", AT, text[:-1])
    assert line(record.seq, record.id, record.at, body(record.event)) == text
    assert place_of(text[:-1]) is not None


@given(st.binary() | st.binary().map(lambda rest: b'{"v":1,"seq":1,' + rest + b"}"))
def test_any_bytes_are_a_record_a_later_line_or_damage(content: bytes) -> None:
    found = decode(content)

    assert isinstance(found, Record | Future | Damaged)
    assert isinstance(found, Damaged) or found.raw == content


@given(EVENTS, st.data())
def test_a_cut_line_is_never_taken_for_a_record(event: Measured, data: st.DataObject) -> None:
    text = line(1, f"o_{ulid_text(1)}", AT, body(event))[:-1]

    assert isinstance(decode(text[: data.draw(st.integers(0, len(text) - 1))]), Damaged)
