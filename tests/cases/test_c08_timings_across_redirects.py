"""C08: every hop has its own timings, and none is computed from another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PHASES = ("resolve_ms", "connect_ms", "tls_ms", "send_ms", "first_byte_ms", "head_ms", "body_ms", "other_ms")


def answer(status: int, body: bytes, *lines: str) -> bytes:
    headers = "".join(f"{line}\r\n" for line in lines)
    return f"HTTP/1.1 {status} X\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_c08_a_chain_over_tls_has_one_block_a_hop(
    measure_http: Any, byte_server: Any, tls_server: Any, tmp_path: Path
) -> None:
    head, body = answer(200, b"c" * 30)[:-30], b"c" * 15
    last = byte_server([["read", ("wait", 0.3), head, body, ("wait", 0.15), body, "eof"]])
    middle = tls_server(0.2, answer(302, b"b" * 20, f"Location: {last.url}"))
    first = byte_server([["read", ("wait", 0.1), answer(301, b"a" * 10, f"Location: {middle.url}"), "eof"]])

    outcome = measure_http(first.url, follow_redirects=True, ca_file=str(tmp_path / "ca.pem"))

    data = outcome.data
    blocks = [hop["timings"] for hop in data["hops"]]
    assert (outcome.ok, outcome.error, data["http_status"]) == (True, None, 200)
    assert [hop["body_bytes"]["encoded"] for hop in data["hops"]] == [10, 20, 30]
    assert data["body_bytes"]["encoded"] == 30
    assert [block["tls_ms"] is not None for block in blocks] == [False, True, False]
    assert [block["first_byte_ms"] >= least for block, least in zip(blocks, (95, 195, 295), strict=True)] == [
        True
    ] * 3
    assert blocks[2]["body_ms"] >= 145
    assert all(block[phase] is None or block[phase] >= 0 for block in blocks for phase in PHASES)


def test_c08_phases_add_up_to_the_hop_and_hops_to_the_total(measure_http: Any, byte_server: Any) -> None:
    last = byte_server([["read", answer(200, b"c"), "eof"]])
    first = byte_server([["read", answer(302, b"a", f"Location: {last.url}"), "eof"]])

    data = measure_http(first.url, follow_redirects=True).data

    blocks = [hop["timings"] for hop in data["hops"]]
    sums = [sum(block[phase] or 0.0 for phase in PHASES) for block in blocks]
    assert all(abs(block["total_ms"] - total) < 0.01 for block, total in zip(blocks, sums, strict=True))
    assert data["timings"]["total_ms"] == round(sum(block["total_ms"] for block in blocks), 3)
