"""Laws of reading a log: forwards and backwards agree, and every byte is either served or reported."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.records.codec import body, line
from app.records.events import Measured
from app.records.ulid import ulid_text
from app.store.lines import read_lines
from app.store.log import Damage, Line
from app.store.tail import lines_backwards, read_tail

AT = "2026-09-22T08:14:03.000000Z"
BODY = body(Measured("t", {"ü": 1}, AT, None, True, None))
GOOD = st.integers(1, 99).map(lambda seq: line(seq, f"o_{ulid_text(seq)}", AT, BODY))
LATER = st.sampled_from([b'{"v":2}\n', b'{"v":2,"seq":4,"id":"o_%b"}\n' % ulid_text(4).encode()])
RUBBISH = st.binary(max_size=20) | st.sampled_from(
    [b"\n", b"\0\0\n", b"{}\n", b'{"v":1\n', b"\r\n", b'{"v":1']
)
FILES = st.lists(GOOD | LATER | RUBBISH, max_size=12).map(b"".join)


def read(content: bytes, position: int = 0) -> list[Line | Damage]:
    return list(read_lines(lambda size, at: content[at : at + size], position, len(content), "f"))


@given(FILES)
def test_every_byte_is_served_or_reported(content: bytes) -> None:
    covered = bytearray(content)
    for found in read(content):
        start, length = (
            (found.offset, found.length)
            if isinstance(found, Damage)
            else (found.position, len(found.record.raw))
        )
        covered[start : start + length] = b"\n" * length

    assert covered.strip(b"\n") == b""


@given(FILES)
def test_reading_from_any_line_gives_the_rest(content: bytes) -> None:
    everything = read(content)

    for index, found in enumerate(everything):
        if isinstance(found, Line) and found.position != 3:  # behind a byte order mark nothing begins
            assert read(content, found.position) == everything[index:]


@given(FILES)
def test_the_tail_is_the_last_place_that_reading_finds(content: bytes) -> None:
    tail = read_tail(lambda size, at: content[at : at + size], 0, len(content))

    seqs = [found.record.seq for found in read(content) if isinstance(found, Line)]
    placed = [seq for seq in seqs if seq is not None]
    assert (tail.place.seq if tail.place else None) == (placed[-1] if placed else None)


@given(FILES)
def test_lines_backwards_are_the_lines(content: bytes) -> None:
    found = list(lines_backwards(lambda size, at: content[at : at + size], 0, len(content)))

    assert [text for _, text in reversed(found)] == content.split(b"\n")
    assert all(content[offset : offset + len(text or b"")] == text for offset, text in found)


@given(FILES, FILES)
def test_what_is_added_changes_nothing_before_it(content: bytes, added: bytes) -> None:
    before = read(content + b"\n")

    assert read(content + b"\n" + added)[: len(before)] == before
