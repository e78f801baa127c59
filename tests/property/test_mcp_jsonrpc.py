"""Laws of reading and writing messages."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.mcp.jsonrpc import Array, Invalid, Notification, Request, Response, error_line, read, result_line

texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.one_of(st.integers(), texts)
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
envelopes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": st.one_of(ids, values),
        "method": st.one_of(st.just("ping"), values),
        "params": values,
        "result": values,
    },
)


@given(st.one_of(st.binary(), texts.map(str.encode), values.map(lambda value: json.dumps(value).encode())))
def test_reading_never_raises(line: bytes) -> None:
    assert isinstance(read(line), Request | Notification | Response | Invalid | Array)


@given(envelopes)
def test_a_message_keeps_its_id_or_says_that_it_has_none(envelope: dict[str, Any]) -> None:
    message = read(json.dumps(envelope).encode())
    id_ = envelope.get("id")

    if isinstance(message, Request):
        assert (type(message.id), message.id) == (type(id_), id_)
    elif isinstance(message, Invalid):
        assert message.id is None or (type(message.id), message.id) == (type(id_), id_)
    else:
        assert "id" not in envelope or isinstance(message, Response)


@given(ids, texts)
def test_an_answer_is_one_line_of_json_with_the_very_id(id_: Any, text: str) -> None:
    lines = [result_line(id_, json.dumps({"a": text}).encode()), error_line(id_, -1, text, {"b": text})]

    for line in lines:
        answer = json.loads(line)
        assert b"\n" not in line
        assert (type(answer["id"]), answer["id"]) == (type(id_), id_)
