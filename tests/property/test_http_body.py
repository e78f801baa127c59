"""Laws of bodies: whatever arrives is shown truthfully, and never raises."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64decode

from hypothesis import given
from hypothesis import strategies as st

from app.measure.http1.answer import Answer
from app.measure.http1.charset import as_text
from app.measure.http1.charsets import CHARSETS
from app.measure.http1.coding import undo
from app.measure.http1.content import content_of
from app.measure.http1.faithful import value_of
from app.measure.http1.head import parse_head

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
CODINGS = st.lists(st.sampled_from(["gzip", "deflate"]), min_size=1, max_size=4)


@given(JSON)
def test_json_that_we_could_have_written_comes_back_as_its_value(value: object) -> None:
    text = json.dumps(value)
    found = value_of(text)

    assert found is None or json.dumps(found[0]) == text
    assert found is not None or "\\ud" in text


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_not_and_never_an_exception(text: str) -> None:
    found = value_of(text)

    assert found is None or json.loads(text) == found[0]


@given(st.binary(max_size=200), CODINGS)
def test_what_was_encoded_is_decoded(data: bytes, codings: list[str]) -> None:
    packed = data
    for coding in codings:
        packed = gzip.compress(packed) if coding == "gzip" else zlib.compress(packed)

    decoded = undo(packed, codings, keep=1000, count=1000, is_whole=True)

    assert (bytes(decoded.kept), decoded.total, decoded.fault) == (data, len(data), None)


@given(st.binary(max_size=200), CODINGS, st.integers(0, 50), st.integers(0, 50))
def test_any_bytes_are_decoded_within_bounds(data: bytes, codings: list[str], keep: int, count: int) -> None:
    decoded = undo(data, codings, keep=keep, count=count, is_whole=True)

    assert len(decoded.kept) <= keep
    assert decoded.fault in (None, "cut", "garbage")


@given(st.binary(max_size=60), st.none() | st.sampled_from(sorted(CHARSETS)) | st.text(max_size=8))
def test_any_bytes_under_any_label_are_text_that_can_be_stored(data: bytes, label: str | None) -> None:
    text = as_text(data, label, is_cut=False)

    assert text.text.encode("utf-8", "strict") is not None
    assert text.replaced or text.origin == "bom" or text.text.encode(text.name, "strict") is not None


@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"application/json", b"text/html; charset=gbk", b"image/png", b"\xff\xfe"]),
    st.sampled_from([b"", b"gzip", b"gzip, deflate", b"br", b"gzip, gzip, gzip, gzip, gzip"]),
    st.integers(0, 40),
)
def test_any_body_becomes_facts_that_are_json(
    data: bytes, content_type: bytes, coding: bytes, limit: int
) -> None:
    lines = b"Content-Type: %s\nContent-Encoding: %s\nContent-Length: %d\n\n" % (
        content_type,
        coding,
        len(data),
    )
    answer = Answer(1000, limit, head=parse_head(b"HTTP/1.1 200 OK\n" + lines), complete=True)
    answer.open_body().add(data)

    facts = content_of(answer, limit).facts

    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["body_bytes"]["encoded"] == len(data)
    if facts["body_encoding"] == "base64":
        assert len(b64decode(facts["body"])) <= limit
