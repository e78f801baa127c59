"""What the kernel says of a connection, of whatever length its structure is."""

from __future__ import annotations

import struct

import pytest

from app.net.tcp_info import parse_tcp_info


def raw(size: int, **numbers: int) -> bytes:
    info = bytearray(256)
    for at, value in numbers.items():
        struct.pack_into("=I", info, int(at[1:]), value)
    return bytes(info[:size])


def test_the_numbers_stand_where_linux_puts_them() -> None:
    info = parse_tcp_info(raw(256, _68=1234, _148=99, _100=2, _16=1448, _60=1500))

    assert info is not None
    names = ("rtt_us", "min_rtt_us", "retransmits", "mss", "pmtu")
    assert [info[name] for name in names] == [1234, 99, 2, 1448, 1500]


def test_counts_of_bytes_are_wider_than_four_gigabytes() -> None:
    info = parse_tcp_info(raw(256, _120=1, _124=1, _128=2, _132=1))

    assert info is not None
    assert (info["bytes_acked"], info["bytes_received"]) == (2**32 + 1, 2**32 + 2)


def test_half_a_number_is_left_out() -> None:
    info = parse_tcp_info(raw(132))

    assert info is not None
    assert ("bytes_acked" in info, "bytes_received" in info) == (True, False)


def test_an_older_kernel_leaves_numbers_out() -> None:
    info = parse_tcp_info(raw(104, _68=5))

    assert info is not None
    assert ("rtt_us" in info, "retransmits" in info, "min_rtt_us" in info) == (True, True, False)


def test_a_minimum_that_was_never_measured_is_left_out() -> None:
    assert "min_rtt_us" not in (parse_tcp_info(raw(256, _148=0xFFFFFFFF)) or {"min_rtt_us": 0})


@pytest.mark.parametrize("size", [0, 8])
def test_nothing_is_none(size: int) -> None:
    assert parse_tcp_info(raw(size)) is None
