"""Content codings are undone within bounds, whatever the bytes claim."""

from __future__ import annotations

import gzip
import hashlib
import zlib

import pytest

from app.measure.http1.coding import COUNT_LIMIT, MEMBER_LIMIT, Decoded, can_undo, codings_of, undo

PLAIN = b"every word of this is compressed " * 40
NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(125))


def raw_deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


def undone(
    data: bytes, *codings: str, keep: int = 10_000, count: int = 20_000, is_whole: bool = True
) -> Decoded:
    return undo(data, codings, keep=keep, count=count, is_whole=is_whole)


@pytest.mark.parametrize(
    ("codings", "data"),
    [
        pytest.param(["gzip"], gzip.compress(PLAIN), id="gzip"),
        pytest.param(["x-gzip"], gzip.compress(PLAIN), id="the old name of gzip"),
        pytest.param(["deflate"], zlib.compress(PLAIN), id="deflate with the zlib header"),
        pytest.param(["deflate"], raw_deflate(PLAIN), id="deflate without the zlib header"),
        pytest.param(["gzip"], gzip.compress(PLAIN[:50]) + gzip.compress(PLAIN[50:]), id="two gzip members"),
        pytest.param(["gzip"], gzip.compress(PLAIN) + bytes(8), id="gzip with padding behind it"),
        pytest.param(["deflate", "gzip"], gzip.compress(zlib.compress(PLAIN)), id="deflate inside gzip"),
        pytest.param(
            ["gzip"] * 4, gzip.compress(gzip.compress(gzip.compress(gzip.compress(PLAIN)))), id="four links"
        ),
    ],
)
def test_known_codings_are_undone(codings: list[str], data: bytes) -> None:
    decoded = undone(data, *codings)

    assert decoded == Decoded(bytearray(PLAIN), len(PLAIN))


def test_only_what_is_wanted_is_kept_and_all_is_counted() -> None:
    decoded = undone(gzip.compress(PLAIN), "gzip", keep=7)

    assert decoded == Decoded(bytearray(PLAIN[:7]), len(PLAIN))


def test_counting_ends_at_the_bound_with_a_lower_bound() -> None:
    decoded = undone(gzip.compress(bytes(5_000_000)), "gzip", keep=10, count=100_000)

    assert (decoded.kept, decoded.total >= 100_000, decoded.total < 300_000) == (bytearray(10), True, True)
    assert decoded.at_least


def test_a_stream_that_ends_exactly_at_the_bound_is_counted_exactly() -> None:
    decoded = undone(gzip.compress(PLAIN), "gzip", keep=1, count=len(PLAIN))

    assert (decoded.total, decoded.at_least) == (len(PLAIN), False)


def test_a_link_that_grows_and_shrinks_again_is_bounded_too() -> None:
    empty_blocks = b"\x00\x00\x00\xff\xff" * 400_000  # a deflate stream of 2 MB that holds nothing

    decoded = undone(zlib.compress(empty_blocks), "deflate", "deflate", count=1_000_000)

    assert decoded == Decoded(bytearray(), 0, at_least=True)


def test_gzip_members_without_end_are_bounded() -> None:
    decoded = undone(gzip.compress(b"a") * 5000, "gzip")

    assert decoded == Decoded(bytearray(b"a" * MEMBER_LIMIT), MEMBER_LIMIT, at_least=True)


def test_half_a_stream_keeps_its_beginning_and_says_that_it_was_cut() -> None:
    data = gzip.compress(NOISE)

    decoded = undone(data[: len(data) // 2], "gzip")

    assert decoded.fault == "cut"
    assert 0 < decoded.total < 4000
    assert NOISE.startswith(decoded.kept)


def test_half_a_stream_is_no_fault_when_the_cut_is_ours() -> None:
    data = gzip.compress(NOISE)

    decoded = undone(data[:1000], "gzip", is_whole=False)

    assert (decoded.fault, decoded.at_least) == (None, True)


@pytest.mark.parametrize("data", [b"<html>", b"\x1f\x8b\x08\x00", b"\x1f", b"\x1f\x8b\x09" + bytes(20)])
def test_what_is_no_gzip_is_a_fault_and_not_an_exception(data: bytes) -> None:
    decoded = undone(data, "gzip")

    assert decoded.fault in ("cut", "garbage")
    assert decoded.kept == b""


def test_garbage_behind_a_good_beginning_keeps_the_beginning() -> None:
    data = bytearray(gzip.compress(PLAIN))
    data[-6] ^= 0xFF

    decoded = undone(bytes(data), "gzip")

    assert decoded.fault == "garbage"


def test_output_that_zlib_still_holds_at_the_step_limit_is_not_lost() -> None:
    assert undone(raw_deflate(bytes(65_537)), "deflate", keep=1, count=COUNT_LIMIT).total == 65_537


def test_codings_are_listed_in_the_order_in_which_they_were_applied() -> None:
    assert codings_of([b"GZIP , identity", b" br,", b"\xe4"]) == ["gzip", "br", "ä"]


@pytest.mark.parametrize(
    ("codings", "known"), [(["gzip", "deflate"], True), (["br"], False), (["gzip", "zstd"], False)]
)
def test_a_chain_is_undone_as_a_whole_or_not_at_all(codings: list[str], known: object) -> None:
    assert can_undo(codings) is known
