"""C12: a limit holds for what is announced, for what inflates, and for the sum of fragments.

crossbario/autobahn-python#1909 (GHSA-hxp9-w8x3-p566) · python-websockets/websockets#407 · nodejs/undici#4899 ·
aio-libs/aiohttp#1952
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import pytest

HELLO = b"\x81\x05hello"


def deflated(text: bytes, first: int = 0xC1, compressor: Any = None) -> bytes:
    """A compressed frame; without a compressor of its own."""
    one = compressor or zlib.compressobj(wbits=-15)
    payload = (one.compress(text) + one.flush(zlib.Z_SYNC_FLUSH))[:-4]
    head = (
        bytes([first, len(payload)])
        if len(payload) < 126
        else bytes([first, 126]) + len(payload).to_bytes(2, "big")
    )
    return head + payload


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("upgrade", "wire", "observed"),
    [
        pytest.param("deflate", deflated(b"a" * 4096), 129, id="a small frame that inflates"),
        pytest.param(
            "upgrade", b"\x82\x7f" + (10 << 20).to_bytes(8, "big") + b"x" * 70_000, 10 << 20, id="10 MiB"
        ),
        pytest.param("upgrade", b"\x82\x7f" + (2**63 - 1).to_bytes(8, "big"), 2**63 - 1, id="announced only"),
        pytest.param("upgrade", b"\x01\x01a" + b"\x00\x01a" * 100_000, 129, id="fragments without end"),
    ],
)
def test_c12_more_than_the_limit_is_refused_and_what_came_before_is_kept(
    measure_ws: Any, byte_server: Any, upgrade: str, wire: bytes, observed: int
) -> None:
    server = byte_server([[upgrade, HELLO, wire, "drain"]])
    before = resident()

    outcome = measure_ws(server.url.replace("http", "ws"), max_bytes=128, window_ms=1000, timeout_ms=3000)
    server.close()

    data = outcome.data
    assert [each["text"] for each in data["messages"]][:1] == ["hello"]
    assert resident() - before < 10 * 1024 * 1024
    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "too_large", "body")
    assert (outcome.error["observed_bytes"], outcome.error["allowed_bytes"]) == (observed, 128)
    assert (data["close"]["code"], data["close"]["by"]) == (1009, "local")


def test_c12_compressed_fragments_count_together(measure_ws: Any, byte_server: Any) -> None:
    compressor = zlib.compressobj(wbits=-15)
    first = compressor.compress(b"a" * 100) + compressor.flush(zlib.Z_SYNC_FLUSH)
    second = (compressor.compress(b"b" * 100) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]
    wire = b"\x41" + bytes([len(first)]) + first + b"\x80" + bytes([len(second)]) + second
    server = byte_server([["deflate", wire, "drain"]])

    outcome = measure_ws(server.url.replace("http", "ws"), max_bytes=128, timeout_ms=3000)

    assert (outcome.error["code"], outcome.data["close"]["code"]) == ("too_large", 1009)


def test_c12_context_takeover_over_fifty_messages_is_read(measure_ws: Any, byte_server: Any) -> None:
    compressor = zlib.compressobj(wbits=-15)
    wire = b"".join(deflated(b"again and again", compressor=compressor) for _ in range(50))
    server = byte_server([["deflate", wire, b"\x88\x02\x03\xe8", "drain"]])

    data = measure_ws(server.url.replace("http", "ws"), timeout_ms=3000).data

    assert {(each["text"], each["compressed"], each["bytes"]) for each in data["messages"]} == {
        ("again and again", True, 15)
    }
    assert (data["seen"], data["kept"], data["extensions"]) == (50, 50, ["permessage-deflate"])


def test_c12_the_sum_of_messages_ends_the_listening_and_cuts_the_last(
    measure_ws: Any, byte_server: Any
) -> None:
    server = byte_server([["upgrade", HELLO * 4, "drain"]])

    outcome = measure_ws(server.url.replace("http", "ws"), max_bytes=12, window_ms=500, timeout_ms=3000)

    data = outcome.data
    assert [(each["text"], each["truncated"]) for each in data["messages"]] == [
        ("hello", False),
        ("hello", False),
        ("he", True),
    ]
    assert (data["stopped_by"], data["seen"], data["kept"]) == ("bytes", 4, 3)


def test_c12_the_count_ends_the_listening(measure_ws: Any, byte_server: Any) -> None:
    server = byte_server([["upgrade", HELLO * 4, "drain"]])

    data = measure_ws(server.url.replace("http", "ws"), max_messages=2, window_ms=500, timeout_ms=3000).data

    assert (data["stopped_by"], data["seen"], data["kept"]) == ("count", 4, 2)


def test_c12_no_messages_are_wanted(measure_ws: Any, byte_server: Any) -> None:
    server = byte_server([["upgrade", "drain"]])

    data = measure_ws(server.url.replace("http", "ws"), max_messages=0, timeout_ms=3000).data

    assert (data["http_status"], data["stopped_by"], data["kept"]) == (101, "count", 0)
