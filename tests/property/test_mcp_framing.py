"""Laws of the cutting of bytes into lines and of the search for an id."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.mcp.framing import Lines, Oversize, fish_id

LIMIT = 12

pieces = st.lists(st.one_of(st.binary(max_size=30), st.sampled_from([b"\n", b"\r\n", b" ", b"aaaa\nb"])))
ids = st.one_of(st.integers(), st.text(max_size=20))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "a", '"id":5', ',"id', "x"]), inner, max_size=3)
    ),
    max_leaves=10,
)
members = st.lists(st.tuples(st.sampled_from(["method", "params", "x", "jsonrpc"]), values), max_size=4)


def cut(parts: list[bytes]) -> list[bytes | Oversize]:
    lines = Lines(LIMIT)
    return [line for part in parts for line in lines.feed(part)]


@given(pieces)
def test_the_lines_do_not_depend_on_where_the_bytes_were_cut(parts: list[bytes]) -> None:
    whole = b"".join(parts)

    assert cut(parts) == cut([whole]) == cut([bytes([byte]) for byte in whole])


@given(st.lists(st.binary(min_size=1, max_size=LIMIT)))
def test_no_line_within_the_limit_is_lost_or_changed(wanted: list[bytes]) -> None:
    plain = [line.translate(bytes.maketrans(b"\n\r\t \x00", b"abcde")) for line in wanted]

    assert cut([b"".join(line + b"\n" for line in plain)]) == plain


@given(st.integers(1, 100), st.binary(max_size=5))
def test_every_line_beyond_the_limit_is_told_once(excess: int, after: bytes) -> None:
    found = cut([b"x" * (LIMIT + excess) + b"\n" + after, b"\ny\n"])

    assert [type(line) for line in found].count(Oversize) == 1
    assert found[-1] == b"y"


@given(members, members, ids, st.integers(0, 200))
def test_an_id_that_is_found_is_the_id(before: Any, after: Any, id_: Any, at: int) -> None:
    fields = {**dict(before), "id": id_, **dict(after)}
    line = json.dumps(fields).encode()

    assert fish_id(line[:at] + b"\n" + line[at:]) in (None, id_)


@given(members, ids)
def test_an_id_before_all_else_is_always_found(after: Any, id_: Any) -> None:
    line = json.dumps({"id": id_, **dict(after), "more": ""}).encode()

    assert fish_id(line[:-3] + b"\n") == id_


@given(st.binary())
def test_the_search_for_an_id_never_raises(excerpt: bytes) -> None:
    assert isinstance(fish_id(excerpt), int | str | None)
