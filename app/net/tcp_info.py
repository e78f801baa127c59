"""What the kernel knows of a TCP connection: `struct tcp_info` of linux/tcp.h, as long as it was given."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

SIZE: Final = 256
"""Bytes to ask for; a kernel gives as many as it knows."""

_UNKNOWN_RTT = 0xFFFFFFFF
_WORDS_AT = 8
_U32: Mapping[str, int] = {
    "rtt_us": 68,
    "rttvar_us": 72,
    "min_rtt_us": 148,
    "rto_us": 8,
    "retransmits": 100,
    "lost": 32,
    "reordering": 88,
    "mss": 16,
    "rcv_mss": 20,
    "advmss": 84,
    "pmtu": 60,
    "snd_cwnd": 80,
    "rcv_rtt_us": 92,
    "segs_out": 136,
    "segs_in": 140,
}
"""Offsets of 32-bit numbers; `retransmits` is the total of the connection."""
_U64: Mapping[str, int] = {"bytes_acked": 120, "bytes_received": 128}
"""Offsets of 64-bit numbers."""
_INDEX: Mapping[str, int] = {name: (at - _WORDS_AT) // 4 for name, at in _U32.items()}


def parse_tcp_info(raw: bytes) -> dict[str, int] | None:
    """The numbers by name; those that an older kernel does not have are left out, None when there are none."""
    words = struct.unpack_from(f"={max(0, len(raw) - _WORDS_AT) // 4}I", raw, min(_WORDS_AT, len(raw)))
    found = {name: words[index] for name, index in _INDEX.items() if index < len(words)}
    for name, at in _U64.items():
        if len(raw) >= at + 8:
            found[name] = struct.unpack_from("=Q", raw, at)[0]
    if found.get("min_rtt_us") == _UNKNOWN_RTT:
        del found["min_rtt_us"]
    return found or None
