"""A log as leaves: every piece between line feeds, whatever is in it and however it is read."""

from __future__ import annotations

from itertools import chain

import pytest

import app.store.raw as module
from app.store.raw import raw_lines


def lines(content: bytes, position: int = 0, end: int | None = None) -> list[bytes]:
    def read_at(size: int, offset: int) -> bytes:
        return content[offset : offset + size]

    return list(chain.from_iterable(raw_lines(read_at, position, len(content) if end is None else end)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"a\nb\n", [b"a", b"b"], id="two lines"),
        pytest.param(b"a\r\n\n\x00\n", [b"a\r", b"", b"\x00"], id="a CR, a blank line, rubbish"),
        pytest.param(b"a\nunfinished", [b"a"], id="a piece without a line feed is no line yet"),
    ],
)
def test_lines_are_what_stands_between_line_feeds(content: bytes, expected: list[bytes]) -> None:
    assert lines(content) == expected


def test_lines_do_not_depend_on_the_blocks_in_which_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(b"x" * length + b"\n" for length in range(40))
    whole = lines(content)
    monkeypatch.setattr(module, "BLOCK_BYTES", 7)

    assert lines(content) == whole == content.split(b"\n")[:-1]


def test_only_what_lies_between_position_and_end_is_read() -> None:
    assert lines(b"a\nb\nc\n", position=2, end=4) == [b"b"]
