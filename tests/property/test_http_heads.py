"""Laws of reading an answer: h11 as the second opinion about heads, and no dependence on how bytes are cut."""

from __future__ import annotations

import h11
from hypothesis import given
from hypothesis import strategies as st

from app.measure.http1.framing import Chunked, FramingError
from app.measure.http1.head import Head, HeadError, check_start, end_of_head, parse_head, partial_head

LINES = st.sampled_from(
    [
        *(
            b"A: b",
            b"a:b ",
            b"A:",
            b"Set-Cookie: \xe4\xf6",
            b"X-Y: a\tb",
            b"A : b",
            b": x",
            b"nocolon",
            b" folded",
            b"\tx",
        ),
        *(
            b"Content-Length: 3",
            b"content-length: 3, 3",
            b"Content-Length: 4",
            b"Content-Length: +3",
            b"Content-Length:",
        ),
        *(
            b"Transfer-Encoding: chunked",
            b"TRANSFER-ENCODING: Chunked",
            b"Transfer-Encoding: gzip",
            b"A: b\x00",
            b"A: \x0c",
        ),
        *(
            b"Content-Length: 9223372036854775807",
            b"Content-Length: 999999999999999999999",
            b"A: b\rc",
            b"A: b\x1f",
        ),
    ]
)
STATUS_LINES = st.sampled_from(
    [
        *(
            b"HTTP/1.1 200 OK",
            b"HTTP/1.0 404",
            b"HTTP/1.1 200 ",
            b"HTTP/1.1 600 a b",
            b"HTTP/1.1 099 X",
            b"HTTP/1.1 20 X",
        ),
        *(
            b"HTTP/1.1 200\tOK",
            b"HTTP/1.1 200 O\x00K",
            b"http/1.1 200 OK",
            b"HTTP/1 200 OK",
            b"HTTP/1.1 2000 OK",
            b"ICY 200 OK",
        ),
    ]
)
STARTS = st.builds(
    lambda blank, line, cut, more: blank + line[:cut] + more,
    st.sampled_from([b"", b"\r\n", b"\n\r\n", b"\r" * 16, b"\n" * 17]),
    STATUS_LINES,
    st.integers(0, 18),
    st.text("HTP/1.902 \t\r\nX", max_size=6).map(str.encode) | st.binary(max_size=6),
)
WHOLE = b"HTTP/1.1 200 X\n"
"""Some end of it makes an answer of every start that can become one."""
HEADS = st.tuples(STATUS_LINES | st.binary(max_size=20), st.lists(LINES | st.binary(max_size=12), max_size=6))
ENDS = st.sampled_from([b"\r\n", b"\n"])
FRAMING = frozenset({b"content-length", b"transfer-encoding"})


Opinion = tuple[int, list[tuple[bytes, bytes]], bool, int | None]


def second_opinion(block: bytes) -> Opinion | None:
    """Status, fields without those of the framing, whether it is chunked, and its length; None when h11 refuses."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1_000_000)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
    connection.receive_data(block)
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError:
        return None
    if not isinstance(event, h11.Response | h11.InformationalResponse):
        return None
    framing = {name: value for name, value in event.headers if name in FRAMING}
    fields = [(name, bytes(value)) for name, value in event.headers if name not in FRAMING]
    length = framing.get(b"content-length")
    return event.status_code, fields, b"transfer-encoding" in framing, None if length is None else int(length)


def parsed(block: bytes) -> Head | None:
    try:
        return parse_head(block)
    except HeadError:
        return None


def ours(head: Head | None) -> Opinion | None:
    if head is None or head.fault is not None:
        return None
    fields = [(name.lower(), value) for name, value in head.fields if name.lower() not in FRAMING]
    return head.status, fields, head.is_chunked, head.length


def is_waited_for(start: bytes) -> bool:
    try:
        check_start(start)
    except HeadError:
        return False
    return True


@given(HEADS, ENDS)
def test_a_head_is_read_as_h11_reads_it_and_what_h11_refuses_is_refused_or_listed(
    head: tuple[bytes, list[bytes]], end: bytes
) -> None:
    status_line, lines = head
    block = end.join([status_line, *lines, b"", b""])
    found = end_of_head(block)
    if found < 0 or block.startswith((b"\n", b"\r\n")):
        return  # h11 has its own view of where such a head ends
    block = block[:found]
    second = second_opinion(block)
    if second is not None and (second[0] == 101 or not block.startswith(b"HTTP/1.")):
        return  # what we refuse on top

    head_of_ours = parsed(block)
    if second is None and head_of_ours is not None and head_of_ours.deviations:
        return  # tolerated, and listed
    assert ours(head_of_ours) == second


@given(STARTS)
def test_a_start_is_waited_for_exactly_while_it_can_become_an_answer(start: bytes) -> None:
    can_become = any(parsed(start + WHOLE[at:]) is not None for at in range(len(WHOLE)))

    assert is_waited_for(start) == can_become


@given(st.sampled_from([b"", b"\r\n", b"\n"]), HEADS, ENDS, st.integers(1, 5))
def test_the_end_of_a_head_does_not_depend_on_how_it_is_cut(
    blank: bytes, head: tuple[bytes, list[bytes]], end: bytes, step: int
) -> None:
    whole = blank + end.join([head[0], *head[1], b"", b"body"])

    found, size = -1, 0
    while found < 0 and size < len(whole):
        searched, size = size, size + step
        found = end_of_head(whole[:size], max(0, searched - 4))

    assert found == end_of_head(whole)


@given(HEADS, ENDS, st.integers(0, 80))
def test_a_cut_head_is_a_part_of_the_whole_one_and_never_an_exception(
    head: tuple[bytes, list[bytes]], end: bytes, cut: int
) -> None:
    block = end.join([head[0], *head[1], b"", b""])
    part, whole = partial_head(block[:cut]), parsed(block)

    assert part is None or whole is not None
    if part is not None and whole is not None:
        assert part.status == whole.status
        assert [name for name, _ in part.fields] == [name for name, _ in whole.fields][: len(part.fields)]


@given(st.lists(st.binary(min_size=1, max_size=8), max_size=8), st.integers(1, 5))
def test_chunks_do_not_depend_on_how_they_are_cut(pieces: list[bytes], step: int) -> None:
    wire = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\nrest"
    framing = Chunked()

    body = b""
    rest = wire
    while not framing.is_done:
        body += b"".join(framing.feed(rest[:step]))
        rest = rest[step:]

    assert (body, framing.surplus + rest) == (b"".join(pieces), b"rest")


@given(st.binary(min_size=1, max_size=60))
def test_any_bytes_are_chunks_or_a_framing_error(data: bytes) -> None:
    try:
        body = b"".join(Chunked().feed(data))
    except FramingError:
        body = b""

    assert len(body) <= len(data)
