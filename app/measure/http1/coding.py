"""Content codings undone within bounds: gzip and deflate, in chains, no matter what the bytes claim.

Rules: zlib runs in steps with a maximum; every link of a chain has the same bound, since a link that grows and
shrinks again costs as much as one that only grows; nothing is undone that nobody can look at.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

CHAIN_LIMIT = 4
"""Codings of one body; real ones have one, and each further one multiplies."""
COUNT_LIMIT = 10_485_760
"""Decoded bytes of one link that are counted beyond what is kept: 10 MiB cost about 20 ms."""
MEMBER_LIMIT = 100
"""Members of one gzip stream; a thousand empty ones fit into 20 kB and each costs as much as a real one."""
_STEP = 65_536
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


@dataclass(slots=True)
class Decoded:
    """The first bytes of a decoded body; `total` counts all, or is a lower bound when `at_least`.

    `fault` is `cut` when a stream ends early, `garbage` when it is not what its name says.
    """

    kept: bytearray = field(default_factory=bytearray)
    total: int = 0
    at_least: bool = False
    fault: str | None = None


class _Fault(Exception):
    """A stream is not decodable to its end; the argument is the word for `Decoded.fault`."""


class _Bound(Exception):
    """A link of the chain has produced as many bytes as are counted."""


def codings_of(values: Iterable[bytes]) -> list[str]:
    """The codings that the Content-Encoding headers name, in the order in which they were applied."""
    names = (name.strip().lower() for value in values for name in value.decode("latin-1").split(","))
    return [name for name in names if name not in ("", "identity")]


def can_undo(codings: Sequence[str]) -> bool:
    """Whether every coding of the chain is known; a chain is undone as a whole or not at all."""
    return all(coding in _KNOWN for coding in codings)


def undo(data: bytes, codings: Sequence[str], *, keep: int, count: int, is_whole: bool) -> Decoded:
    """Undo the codings: keep `keep` bytes, count up to `count`; `is_whole` says that `data` was not cut by us."""
    blocks: Iterator[bytes] = iter((data,))
    for coding in reversed(codings):
        blocks = _inflated(blocks, coding, max(keep, count), is_whole=is_whole)
    result = Decoded(at_least=not is_whole)
    try:
        for block in blocks:
            result.kept += block[: keep - len(result.kept)]
            result.total += len(block)
    except _Bound:
        result.at_least = True
    except _Fault as fault:
        result.fault = str(fault)
    return result


def _inflated(blocks: Iterable[bytes], coding: str, limit: int, *, is_whole: bool) -> Iterator[bytes]:
    """One link of the chain, at most one step at a time; a further gzip member continues the stream."""
    produced = members = 0
    inflater = None
    for block in blocks:
        rest = block
        while rest:
            if inflater is None or inflater.eof:
                if inflater is not None and not _goes_on(coding, rest):
                    return
                inflater = zlib.decompressobj(_window(coding, rest))
                members += 1
            out, rest = _step(inflater, rest)
            produced += len(out)
            yield out
            if (produced >= limit or members >= MEMBER_LIMIT) and (rest or not inflater.eof):
                raise _Bound
    if is_whole and (inflater is None or not inflater.eof):
        raise _Fault("cut")


def _goes_on(coding: str, rest: bytes) -> bool:
    """Whether another gzip member follows; anything else is padding, which other clients ignore too."""
    return coding != "deflate" and rest.startswith(b"\x1f\x8b")


def _step(inflater: zlib._Decompress, data: bytes) -> tuple[bytes, bytes]:
    """At most one step of output, and the input that remains; output that zlib still holds is fetched too."""
    try:
        out = inflater.decompress(data, _STEP)
        if not inflater.unconsumed_tail and not inflater.eof:
            out += inflater.decompress(b"", _STEP)
    except zlib.error as error:
        raise _Fault("garbage") from error
    return out, inflater.unused_data if inflater.eof else inflater.unconsumed_tail


def _window(coding: str, start: bytes) -> int:
    """The `wbits` of zlib; deflate comes with the zlib header (RFC 9110) or, from many servers, without."""
    if coding != "deflate":
        return zlib.MAX_WBITS | 16
    has_header = len(start) >= 2 and start[0] & 0x0F == 8 and (start[0] << 8 | start[1]) % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
