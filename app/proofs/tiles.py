"""Where the hashes of a tree stand among tiles of 256 (c2sp.org/tlog-tiles): coordinates, names and contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from app.proofs.tree import HASH_BYTES, Subtree, frontier, node_hash

HEIGHT: Final = 8
WIDTH: Final = 1 << HEIGHT


class Tile(NamedTuple):
    """The n-th tile of a level; `width` below 256 is a partial one."""

    level: int
    n: int
    width: int

    @property
    def path(self) -> tuple[str, ...]:
        """The names from the directory of the tree on, such as `tile/0/x001/234.p/17`."""
        digits = f"{self.n:03d}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        *above, last = [*(f"x{group}" for group in groups[:-1]), groups[-1]]
        ending = (last,) if self.width == WIDTH else (f"{last}.p", str(self.width))
        return ("tile", str(self.level), *above, *ending)


ReadTile = Callable[[Tile], bytes | None]
"""The hashes of a tile, or None where it is not there."""


def tiles(size: int, since: int = 0) -> Iterator[Tile]:
    """The tiles of a tree of `size` leaves that it did not have when it had `since`."""
    level = 0
    while size >> level * HEIGHT:
        now, before = size >> level * HEIGHT, since >> level * HEIGHT
        for n in range(before // WIDTH, -(-now // WIDTH)):
            width = min(WIDTH, now - n * WIDTH)
            if n * WIDTH + width > before:
                yield Tile(level, n, width)
        level += 1


def subtrees(size: int, read: ReadTile) -> Subtree:
    """The perfect subtrees of a tree of `size` leaves by its tiles; LookupError where a tile is missing or short."""

    def subtree(height: int, n: int) -> bytes:
        level, rest = divmod(height, HEIGHT)
        hashes = [_hash(level, (n << rest) + at) for at in range(1 << rest)]
        while len(hashes) > 1:
            hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
        return hashes[0]

    def _hash(level: int, index: int) -> bytes:
        n, at = divmod(index, WIDTH)
        tile = Tile(level, n, min(WIDTH, (size >> level * HEIGHT) - n * WIDTH))
        data = read(tile)
        found = data[at * HASH_BYTES : (at + 1) * HASH_BYTES] if data else b""
        if len(found) != HASH_BYTES:
            raise LookupError(f"tile {'/'.join(tile.path)} is not there")
        return found

    return subtree


class TileTree:
    """A tree that grows by leaves and gives off its tiles: what it remembers is the last tile of each level."""

    def __init__(self, size: int = 0, rows: Sequence[bytes] = ()) -> None:
        """`rows` are the hashes of the last, partial tile of each level from 0 on; see `last_tiles`."""
        self.size = size
        self._rows = [bytearray(row) for row in rows] or [bytearray()]
        self._full: list[tuple[Tile, bytes]] = []

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Put leaves behind the others."""
        at = 0
        while at < len(leaves):
            room = WIDTH - len(self._rows[0]) // HASH_BYTES
            part = leaves[at : at + room]
            self._rows[0] += b"".join(part)
            self.size += len(part)
            at += room
            self._carry()

    def _carry(self) -> None:
        """The root of a row that is full goes into the row above, which may be full by it."""
        level = 0
        while len(self._rows[level]) == WIDTH * HASH_BYTES:
            row = bytes(self._rows[level])
            n = (self.size >> level * HEIGHT) // WIDTH - 1
            self._full.append((Tile(level, n, WIDTH), row))
            self._rows[level].clear()
            level += 1
            if level == len(self._rows):
                self._rows.append(bytearray())
            self._rows[level] += _root_of(row)

    def root(self) -> bytes:
        """The root over all leaves."""
        return frontier(self.size, subtrees(self.size, self._last)).root()

    def last_leaves(self) -> bytes:
        """The leaves that are in no full tile yet."""
        return bytes(self._rows[0])

    def take_tiles(self) -> list[tuple[Tile, bytes]]:
        """The tiles that became full since they were last taken, and the partial ones as they are."""
        full, self._full = self._full, []
        partial = [(tile, bytes(self._rows[tile.level])) for tile in last_tiles(self.size)]
        return full + partial

    def _last(self, tile: Tile) -> bytes | None:
        return bytes(self._rows[tile.level]) if tile.level < len(self._rows) else None


def last_tiles(size: int) -> list[Tile]:
    """The partial tile of each level of a tree of `size` leaves that has one."""
    levels = range(max(1, -(-size.bit_length() // HEIGHT)))
    counts = [(level, size >> level * HEIGHT) for level in levels]
    return [Tile(level, count // WIDTH, count % WIDTH) for level, count in counts if count % WIDTH]


def _root_of(row: bytes) -> bytes:
    hashes = [row[at : at + HASH_BYTES] for at in range(0, len(row), HASH_BYTES)]
    while len(hashes) > 1:
        hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
    return hashes[0]
