"""Where a body ends, and what came behind it."""

from __future__ import annotations

import pytest

from app.measure.http1.framing import (
    PART_LIMIT,
    ByLength,
    Chunked,
    Framing,
    FramingError,
    UntilClosed,
    framing_of,
)
from app.measure.http1.head import parse_head


def fed(framing: Framing, *pieces: bytes) -> tuple[bytes, bool, bytes]:
    body = b"".join(part for piece in pieces for part in framing.feed(piece))
    return body, framing.is_done, framing.surplus


@pytest.mark.parametrize(
    ("framing", "pieces", "result"),
    [
        (ByLength(3), [b"ab"], (b"ab", False, b"")),
        (ByLength(3), [b"ab", b"cd", b"e"], (b"abc", True, b"de")),
        (ByLength(0), [b"a"], (b"", True, b"a")),
        (UntilClosed(), [b"a", b"b"], (b"ab", False, b"")),
        (Chunked(), [b"2\r\nab\r\n"], (b"ab", False, b"")),
        (
            Chunked(),
            [b"2\r", b"\na", b"b\r\n1;x=y\r\nc\r\n0\r\nT: x\r\n\r", b"\nmore"],
            (b"abc", True, b"more"),
        ),
    ],
)
def test_body_and_surplus(framing: Framing, pieces: list[bytes], result: tuple[bytes, bool, bytes]) -> None:
    assert fed(framing, *pieces) == result


@pytest.mark.parametrize(
    ("lines", "kind", "name", "needs_end"),
    [
        (b"Content-Length: 3\n", ByLength, "length", True),
        (b"", UntilClosed, "close", False),
        (b"Transfer-Encoding: chunked\nContent-Length: 3\n", Chunked, "chunked", True),
    ],
)
def test_the_framing_that_a_head_announces(
    lines: bytes, kind: type[Framing], name: str, needs_end: object
) -> None:
    framing = framing_of(parse_head(b"HTTP/1.1 200 OK\n" + lines + b"\n"))

    assert (type(framing), framing.name, framing.needs_end) == (kind, name, needs_end)
    assert framing.trailers == []


def test_trailers_are_kept_in_order_and_case_once_the_message_is_done() -> None:
    framing = Chunked()

    before = (list(framing.feed(b"1\r\na\r\n0\r\nX-Sum: 1\r\n")), framing.trailers)
    after = (list(framing.feed(b"x-sum:  2 \r\n\r\n")), framing.trailers)

    assert (before, after) == (([b"a"], []), ([], [(b"X-Sum", b"1"), (b"x-sum", b"2")]))


@pytest.mark.parametrize("chunk", [b"x\r\n", b"-1\r\n", b"2\r\nabc\r\n", b"0\r\n: x\r\n\r\n"])
def test_broken_chunks_are_refused_without_being_quoted(chunk: bytes) -> None:
    with pytest.raises(FramingError) as raised:
        list(Chunked().feed(chunk))

    assert raised.value.is_too_large is False
    assert "b'" not in str(raised.value)


@pytest.mark.parametrize("start", [b"1;", b"0\r\nT: "])
def test_a_part_without_end_is_too_large(start: bytes) -> None:
    with pytest.raises(FramingError) as raised:
        list(Chunked().feed(start + b"x" * (PART_LIMIT + 1)))

    assert raised.value.is_too_large is True


def test_what_comes_before_a_broken_chunk_is_kept() -> None:
    pieces = Chunked().feed(b"3\r\nabc\r\nx\r\n")

    assert next(iter(pieces)) == b"abc"
