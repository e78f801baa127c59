"""The same odd and normal answers through three clients: each difference between ours and another is explained.

What is compared is what a user would be told: the status, the headers, the decoded body, and whether it was an error.
The reasons stand in docs/differences.md, row by row; a row that no answer brings forth any more fails as well.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pycurl
import pytest

from app.clock import SystemClock
from app.measure.http import KIND
from app.measure.kind import Bench
from app.net.dialer import Dialer
from app.net.sockets import SocketNetwork
from policy import Policy

PAGE = Path(__file__).parents[2] / "docs/differences.md"
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 3\r\n\r\nabc"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
ZIPPED = gzip.compress(b"abc" * 50, mtime=0)
RAW_DEFLATE = zlib.compress(b"abc" * 50, wbits=-15)


def coded(coding: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body


ANSWERS: dict[str, list[Any]] = {
    "plain": [OK + LENGTH],
    "empty": [OK + b"Content-Length: 0\r\n\r\n"],
    "until-close": [OK + b"\r\nabc"],
    "http-1.0": [b"HTTP/1.0 200 OK\r\n\r\nabc"],
    "http-1.2": [b"HTTP/1.2 200 OK\r\n" + LENGTH],
    "http-2.0": [b"HTTP/2.0 200 OK\r\n" + LENGTH],
    "http-0.9": [b"hello\n"],
    "icy": [b"ICY 200 OK\r\n" + LENGTH],
    "ssh": [b"SSH-2.0-OpenSSH\r\n"],
    "nothing": [],
    "no-reason": [b"HTTP/1.1 200\r\n" + LENGTH],
    "two-spaces": [b"HTTP/1.1  200 OK\r\n" + LENGTH],
    "status-99": [b"HTTP/1.1 99 X\r\n" + LENGTH],
    "status-1000": [b"HTTP/1.1 1000 X\r\n" + LENGTH],
    "status-600": [b"HTTP/1.1 600 X\r\n" + LENGTH],
    "not-found": [b"HTTP/1.1 404 Not Found\r\n" + LENGTH],
    "no-content": [b"HTTP/1.1 204 No Content\r\n\r\n"],
    "no-content-with-body": [b"HTTP/1.1 204 No Content\r\n" + LENGTH],
    "reset-content": [b"HTTP/1.1 205 Reset Content\r\n\r\n"],
    "not-modified": [b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n"],
    "redirect": [b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n"],
    "lf-only": [OK.replace(b"\r", b"") + LENGTH.replace(b"\r", b"")],
    "mixed-line-ends": [OK + b"A: b\n" + LENGTH],
    "leading-blank-line": [b"\r\n" + OK + LENGTH],
    "split-head": [OK, ("wait", 0.02), LENGTH],
    "folded": [OK + b"A: b\r\n c\r\n" + LENGTH],
    "space-before-colon": [OK + b"A : b\r\n" + LENGTH],
    "name-with-space": [OK + b"A b: c\r\n" + LENGTH],
    "no-name": [OK + b": c\r\n" + LENGTH],
    "no-colon": [OK + b"nocolon\r\n" + LENGTH],
    "zero-byte": [OK + b"A: b\x00c\r\n" + LENGTH],
    "bare-cr": [OK + b"A: b\rc\r\n" + LENGTH],
    "latin-1": [OK + b"A: \xe4\r\n" + LENGTH],
    "repeated-header": [OK + b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n" + LENGTH],
    "empty-value": [OK + b"A:\r\n" + LENGTH],
    "many-headers": [OK + b"A: b\r\n" * 900 + LENGTH],
    "long-header": [OK + b"A: " + b"x" * 30_000 + b"\r\n" + LENGTH],
    "equal-lengths": [OK + b"Content-Length: 3\r\n" + LENGTH],
    "length-list": [OK + b"Content-Length: 3, 3\r\n\r\nabc"],
    "different-lengths": [OK + b"Content-Length: 4\r\n" + LENGTH],
    "signed-length": [OK + b"Content-Length: +3\r\n\r\nabc"],
    "negative-length": [OK + b"Content-Length: -1\r\n\r\nabc"],
    "hexadecimal-length": [OK + b"Content-Length: 0x3\r\n\r\nabc"],
    "short-body": [OK + b"Content-Length: 10\r\n\r\nabc"],
    "short-body-reset": [OK + b"Content-Length: 10\r\n\r\nabc", ("wait", 0.05), "reset"],
    "long-body": [OK + LENGTH + b"def"],
    "chunked": [OK + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"],
    "chunk-extension": [OK + CHUNKED + b"3;a=b\r\nabc\r\n0\r\n\r\n"],
    "trailers": [OK + CHUNKED + b"3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n"],
    "cut-in-chunk": [OK + CHUNKED + b"5\r\nabc"],
    "cut-after-chunk": [OK + CHUNKED + b"3\r\nabc\r\n"],
    "bad-chunk-size": [OK + CHUNKED + b"x\r\nabc\r\n0\r\n\r\n"],
    "chunked-and-length": [OK + b"Content-Length: 9\r\n" + CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"],
    "unknown-transfer-coding": [OK + b"Transfer-Encoding: x\r\n\r\nabc"],
    "gzip": [coded(b"gzip", ZIPPED)],
    "gzip-cut": [coded(b"gzip", ZIPPED[:-8])],
    "gzip-garbage": [coded(b"gzip", b"not gzip")],
    "gzip-twice": [coded(b"gzip, gzip", gzip.compress(ZIPPED, mtime=0))],
    "raw-deflate": [coded(b"deflate", RAW_DEFLATE)],
    "unknown-coding": [coded(b"x-unknown", b"abc")],
    "early-hints": [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + LENGTH],
    "continue-only": [b"HTTP/1.1 100 Continue\r\n\r\n"],
    "switching": [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"],
    "reset": [("wait", 0.02), "reset"],
}


class Told(NamedTuple):
    """What a client told; an error tells no more than that it is one, since each has words of its own."""

    outcome: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


ERROR = Told("error")


def ours(url: str) -> Told:
    """This product; an answer that is an error is one, whatever was seen before it."""
    clock = SystemClock()
    dialer = Dialer(Policy.parse("loopback"), SocketNetwork(clock), clock, budget=None, max_in_flight=0)
    params = msgspec.convert({"project": "p", "url": url}, KIND.params)

    async def take() -> Told:
        bench = Bench(dialer, clock, clock.monotonic_ns() + 5 * 10**9)
        outcome = await KIND.probe(KIND.plan(params, bench), bench)
        data = outcome.data
        if outcome.error is not None:
            return ERROR
        headers = tuple((name.lower(), value) for name, value in data["headers"])
        return Told("ok", data["http_status"], headers, decoded(data))

    return asyncio.run(take())


def decoded(data: dict[str, Any]) -> bytes | None:
    """Our body as bytes again; None when its codings were not undone."""
    if data["body_bytes"]["decoded"] is None:
        return None
    if data["body_encoding"] == "base64":
        return base64.b64decode(data["body"])
    return (data["body"] or "").encode()


def with_aiohttp(url: str) -> Told:
    """aiohttp's client with its defaults, redirects left alone."""

    async def take() -> Told:
        timeout = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            try:
                async with session.get(url, allow_redirects=False) as response:
                    body = await response.read()
            except (aiohttp.ClientError, TimeoutError):
                return ERROR
            headers = tuple(
                (name.decode("latin-1").lower(), value.decode("latin-1"))
                for name, value in response.raw_headers
            )
            return Told("ok", response.status, headers, body)

    return asyncio.run(take())


def with_pycurl(url: str) -> Told:
    """libcurl, asked to undo content codings."""
    handle = pycurl.Curl()
    body, lines = io.BytesIO(), list[bytes]()
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.ACCEPT_ENCODING, "gzip, deflate")
    handle.setopt(pycurl.TIMEOUT_MS, 5000)
    handle.setopt(pycurl.WRITEFUNCTION, body.write)
    handle.setopt(pycurl.HEADERFUNCTION, lines.append)
    try:
        handle.perform()
        status = handle.getinfo(pycurl.RESPONSE_CODE)
    except pycurl.error:
        return ERROR
    finally:
        handle.close()
    head = b"".join(lines).decode("latin-1").replace("\r\n", "\n").rstrip("\n").rpartition("HTTP/")[2]
    pairs = [line.partition(":") for line in head.split("\n")[1:] if line]
    headers = tuple((name.lower(), value.strip(" \t")) for name, _, value in pairs)
    return Told("ok", status, headers, body.getvalue())


OTHERS: dict[str, Callable[[str], Told]] = {"aiohttp": with_aiohttp, "pycurl": with_pycurl}


def rows() -> list[tuple[str, list[str], str]]:
    """The table of the page: an answer, the clients that tell it differently, and why."""
    lines = re.findall(r"^\| `(.+)` \| (.*?) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(answer, clients.split(", "), reason) for answer, clients, reason in lines]


EXPLAINED = {(answer, client) for answer, clients, _ in rows() for client in clients}


@pytest.fixture
def serve(byte_server: Any) -> Callable[[Sequence[Any]], str]:
    """The URL of a server that gives this answer to every request and closes."""
    return lambda steps: str(byte_server([["read", *steps, "eof"]]).url)


def test_the_page_counts_the_answers_and_they_are_sixty_at_least() -> None:
    assert len(ANSWERS) >= 60
    assert f"The same {len(ANSWERS)} answers," in PAGE.read_text(encoding="utf-8")


def test_each_row_is_about_one_of_the_answers_and_these_clients_and_gives_a_reason() -> None:
    answers = [answer for answer, _, _ in rows()]

    assert answers == [answer for answer in ANSWERS if answer in answers]
    assert {client for _, client in EXPLAINED} == {*OTHERS}
    assert all(reason.strip() for _, _, reason in rows())


@pytest.mark.parametrize("client", OTHERS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_every_difference_is_explained_and_every_explanation_is_of_a_difference(
    serve: Callable[[Sequence[Any]], str], answer: str, client: str
) -> None:
    here = ours(serve(ANSWERS[answer]))
    there = OTHERS[client](serve(ANSWERS[answer]))

    assert (here != there) is ((answer, client) in EXPLAINED), (here, there)
