"""Signs the root over the lines of a log: what is durable, once for each size, and never over an alteration."""

from __future__ import annotations

import asyncio
import itertools
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, get_args

from app.clock import Clock, utc_text
from app.proofs.note import Checkpoint, SigningKey
from app.proofs.tiles import WIDTH, Tile, TileTree, last_tiles
from app.proofs.tree import HASH_BYTES, leaf_hash
from app.records.codec import Record, body, decode
from app.records.events import Checkpointed, SignedLog
from app.store.checkpoints import believed, origin
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.log import Damage, Guard, LogName, Stored
from app.store.raw import raw_lines
from app.store.segments import Segments, open_segments
from app.store.suspect import Report
from app.store.tail import lines_backwards
from app.store.tile_files import TileFiles

SIGNED: Final[tuple[SignedLog, ...]] = get_args(SignedLog)
PREFIX: Final = "k"


class Append(Protocol):
    """The part of the log that this module uses."""

    async def append(
        self, project: str, log: LogName, prefix: str, body: bytes, guard: Guard | None = None
    ) -> Stored: ...


class Signed(NamedTuple):
    """The newest checkpoint of a log: its line and what it says."""

    stored: Stored
    event: Checkpointed


class _Grown(NamedTuple):
    """A tree and the byte at which its next leaf begins."""

    tree: TileTree
    position: int


class Signer:
    """Works on one thread. Raises OSError and StoreError; `key` is asked for when there is something to sign."""

    def __init__(
        self,
        root: DataDirectory,
        files: Files,
        clock: Clock,
        key: Callable[[], SigningKey],
        report: Report,
    ) -> None:
        self._root = root
        self._files = files
        self._clock = clock
        self._make_key = key
        self._key: SigningKey | None = None
        self._report = report
        self._grown: dict[tuple[str, SignedLog], _Grown] = {}
        self._altered: set[tuple[str, SignedLog]] = set()

    def sign(self, project: str, log: SignedLog, to: Append) -> Stored | None:
        """Sign what the log has grown by; None where there is no news, or where it was altered, which is reported."""
        segments = open_segments(self._root, self._files, project, log)
        if segments is None or (project, log) in self._altered:
            return None
        try:
            return self._sign(project, log, segments, to)
        finally:
            segments.close()

    def newest(self, project: str, log: SignedLog) -> Signed | None:
        """The newest checkpoint of a log that bears our signature."""
        segments = open_segments(self._root, self._files, project, "checkpoints")
        if segments is None:
            return None
        try:
            for position, line in lines_backwards(segments.read_exactly, 0, segments.end):
                record = decode(line) if line else None
                if isinstance(record, Record) and isinstance(record.event, Checkpointed):
                    event = record.event
                    signed = believed(project, event, self._signing_key().public)
                    if event.log == log and isinstance(signed, Checkpoint):
                        stored = Stored(
                            record.seq, record.id, record.at, "checkpoints", position, created=False
                        )
                        return Signed(stored, event)
        finally:
            segments.close()
        return None

    def _sign(self, project: str, log: SignedLog, segments: Segments, to: Append) -> Stored | None:
        self._files.fdatasync(
            segments.segments[-1].descriptor
        )  # of lines that others wrote and have not synced yet
        newest = self.newest(project, log)
        grown = self._tree(project, log, segments, newest.event if newest else None)
        if grown is None:
            self._altered.add((project, log))
            length = newest.event.position if newest else segments.end
            self._report(Damage(segments.segments[0].file, 0, length, "altered"))
            return None
        grown = self._grown[project, log] = _grow(grown, segments)
        tree = grown.tree
        if tree.size <= (newest.event.size if newest else 0):
            return None
        root, position = tree.root(), grown.position
        time = utc_text(self._clock.wall_ns())
        note = self._signing_key().sign(Checkpoint(origin(project, log), tree.size, root, position, time))
        event = Checkpointed(log, tree.size, position, b64encode(root).decode(), note)
        newer = _Newer(self, project, log, tree.size)
        stored = asyncio.run(to.append(project, "checkpoints", PREFIX, body(event), newer))
        self._keep(
            project, log, tree, newest.event.size if newest else 0
        )  # never before the checkpoint they are of
        return stored

    def _keep(self, project: str, log: SignedLog, tree: TileTree, before: int) -> None:
        """Write the tiles that are new, and remove the partial ones of the size before."""
        tiles = TileFiles(self._root, self._files, project, log)
        grown = tree.take_tiles()
        for tile, hashes in grown:
            tiles.write(tile, hashes)
        for tile in last_tiles(before):
            if tile not in [each for each, _hashes in grown]:
                tiles.remove(tile)

    def _tree(
        self, project: str, log: SignedLog, segments: Segments, newest: Checkpointed | None
    ) -> _Grown | None:
        """The tree at, or behind, the newest checkpoint; None where the lines no longer give its root."""
        grown = self._grown.get((project, log))
        if grown is not None and not _stands(grown, segments):
            return None
        if newest is None:
            return grown or _Grown(TileTree(), 0)
        if grown is not None and grown.tree.size > newest.size:
            return grown
        if grown is None:
            grown = self._from_tiles(project, log, segments, newest)
        if grown is None:
            grown = _Grown(TileTree(), 0)
        grown = _grow(grown, segments, newest.size)
        is_same = grown.tree.size == newest.size and grown.tree.root() == b64decode(newest.root)
        return grown if is_same else None

    def _from_tiles(
        self, project: str, log: SignedLog, segments: Segments, newest: Checkpointed
    ) -> _Grown | None:
        """The tree of a checkpoint by its tiles, if they give its root: then the log need not be read again.

        The lines of the last tile are looked at all the same, for the log may have been cut or replaced since.
        """
        tiles = TileFiles(self._root, self._files, project, log)
        last = Tile(0, (newest.size - 1) // WIDTH, (newest.size - 1) % WIDTH + 1)
        if tiles.read(last) != _last_leaves(segments, newest.position, last.width):
            return None
        partial = {tile.level: tiles.read(tile) or b"" for tile in last_tiles(newest.size)}
        if any(len(partial[tile.level]) != tile.width * HASH_BYTES for tile in last_tiles(newest.size)):
            return None
        tree = TileTree(
            newest.size, [partial.get(level, b"") for level in range(max(partial, default=0) + 1)]
        )
        return _Grown(tree, newest.position) if tree.root() == b64decode(newest.root) else None

    def _signing_key(self) -> SigningKey:
        if self._key is None:
            self._key = self._make_key()
        return self._key


class _Newer:
    """A checkpoint is appended unless another server has signed as much already."""

    def __init__(self, signer: Signer, project: str, log: SignedLog, size: int) -> None:
        self.keys = frozenset([log.encode()])
        self._signer = signer
        self._project = project
        self._log = log
        self._size = size

    def decide(self) -> Stored | None:
        newest = self._signer.newest(self._project, self._log)
        return newest.stored if newest and newest.event.size >= self._size else None


def _stands(grown: _Grown, segments: Segments) -> bool:
    """Whether the lines of its last tile are still those of the log, which may have been cut or replaced."""
    leaves = grown.tree.last_leaves()
    return not grown.position or leaves == _last_leaves(segments, grown.position, len(leaves) // HASH_BYTES)


def _last_leaves(segments: Segments, end: int, count: int) -> bytes | None:
    """The leaves of the last lines before `end`; None where no line ends there, or there are not so many."""
    if end > segments.end:
        return None
    backwards = lines_backwards(segments.read_exactly, 0, end)
    if next(backwards, (end, None)) != (end, b""):
        return None
    lines = [line for _position, line in itertools.islice(backwards, count)]
    leaves = [leaf_hash(line) for line in reversed(lines) if line is not None]
    return b"".join(leaves) if len(leaves) == count else None


def _grow(grown: _Grown, segments: Segments, size: int | None = None) -> _Grown:
    """The tree with all whole lines of the log as leaves, or only until it has `size` of them."""
    tree, position = grown
    for lines in raw_lines(segments.read_at, position, segments.end):
        wanted = lines if size is None else lines[: size - tree.size]
        tree.extend([leaf_hash(line) for line in wanted])
        position += sum(map(len, wanted)) + len(wanted)
        if len(wanted) < len(lines):
            break
    return _Grown(tree, position)
