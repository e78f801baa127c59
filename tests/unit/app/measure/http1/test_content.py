"""A body becomes a JSON value, text or base64, and its sizes stay facts whichever it is."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64decode
from typing import Any

import pytest

from app.measure.http1.coding import COUNT_LIMIT
from app.measure.http1.content import Content, content_of

Play = Any
PNG = b"\x89PNG\r\n\x1a\n\x00\x00"
UTF8 = {"name": "utf-8", "from": "default", "replaced": False}


def answered(
    play: Play, body: bytes, *headers: str, limit: int = 1000, status: int = 200, **options: Any
) -> Content:
    lines = "".join(f"{header}\r\n" for header in headers)
    head = f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode()
    return content_of(play(head + body, room=limit, **options).answer, limit)


@pytest.mark.parametrize(
    ("headers", "body", "shown"),
    [
        (["Content-Type: application/json"], b'{"a": 1}', ({"a": 1}, "json", None)),
        (["Content-Type: application/problem+json; charset=x"], b"[1]", ([1], "json", None)),
        (["Content-Type: TEXT/JSON"], b"\xef\xbb\xbfnull", (None, "json", None)),
        ([], b"[true]", ([True], "json", None)),
        (["Content-Type: application/json"], b'{"a": 1, "a": 2}', ('{"a": 1, "a": 2}', "text", UTF8)),
        (["Content-Type: application/json"], b"\xff", ("\ufffd", "text", UTF8 | {"replaced": True})),
        (["Content-Type: text/plain"], b'{"a": 1}', ('{"a": 1}', "text", UTF8)),
        (["Content-Type: text/html"], b"a\x00b", ("a\x00b", "text", UTF8)),
        (["Content-Type: image/svg+xml"], b"<svg/>", ("<svg/>", "text", UTF8)),
        (["Content-Type: application/x-www-form-urlencoded"], b"a=b", ("a=b", "text", UTF8)),
        ([], b"plain", ("plain", "text", UTF8)),
        (["Content-Type: application/octet-stream"], b"plain\r\n", ("plain\r\n", "text", UTF8)),
        (["Content-Type: application/octet-stream"], b"a\x00b", (b"a\x00b", "base64", None)),
        (["Content-Type: image/png"], PNG, (PNG, "base64", None)),
        ([], b"\xff\xfe\xfd", (b"\xff\xfe\xfd", "base64", None)),
        (["Content-Type: application/json"], b"", (None, None, None)),
    ],
)
def test_the_form_of_a_body(
    play: Play, headers: list[str], body: bytes, shown: tuple[Any, str | None, Any]
) -> None:
    facts = answered(play, body, *headers).facts

    form = facts["body"] if facts["body_encoding"] != "base64" else b64decode(facts["body"])
    assert (form, facts["body_encoding"], facts["body_charset"]) == shown


def test_sizes_and_hash_are_those_of_the_bytes_on_the_wire(play: Play) -> None:
    body = gzip.compress(b"x" * 500)

    facts = answered(play, body, "Content-Encoding: GZIP", "Content-Type: text/plain", limit=100).facts

    assert facts == {
        "body": "x" * 100,
        "body_encoding": "text",
        "body_charset": UTF8,
        "body_bytes": {"encoded": len(body), "decoded": 500, "decoded_at_least": False},
        "body_sha256": hashlib.sha256(body).hexdigest(),
        "content_encoding": ["gzip"],
        "truncated": True,
    }


def test_json_that_our_copy_cut_is_text(play: Play) -> None:
    facts = answered(play, b"123456", "Content-Type: application/json", limit=3).facts

    assert (facts["body"], facts["body_encoding"], facts["truncated"]) == ("123", "text", True)


def test_json_that_the_peer_cut_is_text_and_its_size_a_lower_bound(play: Play) -> None:
    answer = play(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n123").answer

    facts = content_of(answer, 1000).facts

    assert (facts["body"], facts["body_encoding"], facts["truncated"]) == ("123", "text", False)
    assert facts["body_bytes"] == {"encoded": 3, "decoded": 3, "decoded_at_least": True}


def test_no_copy_at_all_can_be_asked_for(play: Play) -> None:
    facts = answered(play, b"abc", limit=0).facts

    assert (facts["body"], facts["body_encoding"], facts["truncated"]) == (None, None, True)
    assert facts["body_bytes"] == {"encoded": 3, "decoded": 3, "decoded_at_least": False}


@pytest.mark.parametrize("coding", ["br", "zstd", "br, gzip", "gzip, br"])
def test_an_unknown_coding_stays_as_it_came(play: Play, coding: str) -> None:
    content = answered(play, b"text", f"Content-Encoding: {coding}", limit=3)

    facts = content.facts
    assert (b64decode(facts["body"]), facts["body_encoding"], facts["truncated"]) == (b"tex", "base64", True)
    assert facts["body_bytes"] == {"encoded": 4, "decoded": None, "decoded_at_least": False}
    assert content.fault is None


def test_a_chain_of_too_many_codings_is_a_protocol_error_however_good_it_is(play: Play) -> None:
    body = b"text"
    for _ in range(5):
        body = gzip.compress(body)

    content = answered(play, body, "Content-Encoding: " + ", ".join(["gzip"] * 5))

    assert content.fault is not None
    assert (content.fault.code, content.fault.phase) == ("protocol_error", "body")
    assert (content.facts["body_encoding"], b64decode(content.facts["body"])) == ("base64", body)


def test_a_copy_of_the_encoded_body_that_was_cut_says_so_although_nothing_came_of_it(play: Play) -> None:
    empty_blocks = b"\x00\x00\x00\xff\xff" * 220_000

    facts = answered(play, empty_blocks, "Content-Encoding: deflate", read_limit=2_000_000).facts

    assert (facts["body"], facts["truncated"]) == (None, True)
    assert facts["body_bytes"] == {"encoded": 1_100_000, "decoded": 0, "decoded_at_least": True}


def test_a_compressed_body_that_ends_early_keeps_its_beginning(play: Play) -> None:
    body = gzip.compress(hashlib.sha256(b"a").hexdigest().encode())

    content = answered(play, body[:-20], "Content-Encoding: gzip", "Content-Type: text/plain")

    assert content.fault is not None
    assert (content.fault.code, content.fault.facts) == ("truncated", {"received_bytes": len(body) - 20})
    assert hashlib.sha256(b"a").hexdigest().startswith(content.facts["body"])


def test_a_body_that_is_not_what_its_coding_says_stays_as_it_came(play: Play) -> None:
    content = answered(play, b"<html>", "Content-Encoding: gzip")

    assert content.fault is not None
    assert (content.fault.code, b64decode(content.facts["body"])) == ("protocol_error", b"<html>")


def test_a_good_beginning_is_shown_although_garbage_follows(play: Play) -> None:
    body = bytearray(gzip.compress(b"x" * 200_000))
    body[-8] ^= 0xFF

    content = answered(play, bytes(body), "Content-Encoding: gzip", "Content-Type: text/plain", limit=5)

    assert content.fault is not None
    assert (content.fault.code, content.facts["body"]) == ("protocol_error", "xxxxx")


def test_a_bomb_is_counted_to_a_bound(play: Play) -> None:
    facts = answered(play, gzip.compress(bytes(12_000_000)), "Content-Encoding: gzip", limit=10).facts

    sizes = facts["body_bytes"]
    assert (facts["truncated"], sizes["decoded_at_least"]) == (True, True)
    assert COUNT_LIMIT <= sizes["decoded"] < COUNT_LIMIT + 200_000


def test_the_body_of_a_followed_redirect_is_not_inflated_beyond_its_copy(play: Play) -> None:
    body, headers = gzip.compress(bytes(4_000_000)), ["Location: /b", "Content-Encoding: gzip"]

    facts = answered(play, body, *headers, status=302, limit=1500, follows=True).facts

    assert (facts["body_encoding"], facts["body_bytes"]["decoded_at_least"]) == ("base64", True)
    assert 1500 <= facts["body_bytes"]["decoded"] < 200_000


@pytest.mark.parametrize(("status", "method"), [(204, "GET"), (200, "HEAD")])
def test_an_encoding_without_a_body_is_only_a_header(play: Play, status: int, method: str) -> None:
    content = answered(play, b"", "Content-Encoding: gzip", status=status, method=method)

    assert content.fault is None
    assert content.facts == {
        "body": None,
        "body_encoding": None,
        "body_charset": None,
        "body_bytes": {"encoded": 0, "decoded": 0, "decoded_at_least": False},
        "body_sha256": None,
        "content_encoding": ["gzip"],
        "truncated": False,
    }
