"""Walks the logs of a project and says what is proven: offline, without the lock, without writing anything."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from app.proofs.note import Checkpoint
from app.proofs.tiles import WIDTH, Tile, TileTree
from app.proofs.tree import HASH_BYTES, Frontier, leaf_hash
from app.records.codec import Damaged, Place, place_of
from app.records.events import SignedLog
from app.records.ulid import ulid_text
from app.store.checkpoints import Chain, Fault, Kept, origin, read_chain
from app.store.compare import differences
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.raw import raw_lines
from app.store.segments import Segments, open_segments
from app.store.signer import SIGNED
from app.store.tile_files import TileFiles

FAULTS_SHOWN: Final = 100
_HEAD: Final = re.compile(rb'\{"v":1,"seq":([1-9][0-9]{0,17}),"id":"[a-z]_([0-9A-HJKMNP-TV-Z]{26})",')


class Findings(NamedTuple):
    """What is known of one log. `proven` lines are under the newest checkpoint that holds, `unproven` behind it.

    `files` are relative to the data directory. Of many faults the first `FAULTS_SHOWN` are kept.
    """

    project: str
    log: str
    files: tuple[str, ...]
    lines: int
    bytes: int
    damaged: int
    unfinished_bytes: int
    checkpoints: int
    proven: int
    proven_at: str | None
    unproven: int
    faults: tuple[Fault, ...]


def verify_project(
    root: DataDirectory,
    files: Files,
    project: str,
    public: bytes | None,
    against: Sequence[Checkpoint] = (),
    progress: Callable[[int], None] = lambda _bytes: None,
) -> list[Findings]:
    """Every log of a project, those that are only told of included. Raises OSError and StoreError.

    `against` are checkpoints that were kept elsewhere; `progress` is told of bytes as they are read.
    """
    chain = read_chain(root, files, project, public)
    found = []
    for log in SIGNED:
        kept = list(chain.kept.get(log, ()))
        kept += [
            Kept(each, "the checkpoint kept elsewhere")
            for each in against
            if each.origin == origin(project, log)
        ]
        segments = open_segments(root, files, project, log)
        tiles = TileFiles(root, files, project, log)
        try:
            if segments is not None or kept or tiles.exist():
                found.append(_Walk(project, log, segments, tiles, kept, progress).findings())
        finally:
            if segments is not None:
                segments.close()
    if chain.faults or chain.damaged:
        found.append(_of_checkpoints(project, chain))
    return found


def _of_checkpoints(project: str, chain: Chain) -> Findings:
    file, faults = f"projects/{project}/logs/checkpoints.jsonl", tuple(chain.faults[:FAULTS_SHOWN])
    return Findings(project, "checkpoints", (file,), 0, 0, len(chain.damaged), 0, 0, 0, None, 0, faults)


class _Walk:
    """One pass over the lines of one log."""

    def __init__(
        self,
        project: str,
        log: SignedLog,
        segments: Segments | None,
        tiles: TileFiles,
        kept: list[Kept],
        progress: Callable[[int], None],
    ) -> None:
        self._project = project
        self._log = log
        self._segments = segments
        self._tiles = tiles
        self._kept = sorted(kept, key=lambda each: each.checkpoint.size)
        self._progress = progress
        self._tree = TileTree()
        self._position = 0
        self._damaged = 0
        self._before: tuple[int, bytes] | None = None
        self._good: Checkpoint | None = None
        self._bad: list[tuple[Kept, Checkpoint | None]] = []
        self._sidecar: dict[Tile, Fault] = {}
        self._order: list[Fault] = []

    def findings(self) -> Findings:
        """The whole walk."""
        waiting = list(self._kept)
        for lines in self._lines(0):
            begun, at = self._position, 0
            while at < len(lines):
                count = waiting[0].checkpoint.size - self._tree.size if waiting else len(lines)
                self._pass(lines[at : at + count])
                at += count
                while waiting and waiting[0].checkpoint.size <= self._tree.size:
                    self._compare(waiting.pop(0))
            self._compare_tiles(self._tree.take_tiles())
            self._progress(self._position - begun)
        self._bad += [(each, self._good) for each in waiting]
        return self._told()

    def _pass(self, lines: list[bytes]) -> None:
        """Go over lines that no checkpoint divides."""
        if not self._is_in_order(lines):
            number, position = self._tree.size, self._position
            for line in lines:
                number += 1
                self._look_at(line, number, position)
                position += len(line) + 1
        self._tree.extend([leaf_hash(line) for line in lines])
        self._position += sum(map(len, lines)) + len(lines)

    def _is_in_order(self, lines: list[bytes]) -> bool:
        """Whether all of them are as they should be; what is not is looked at line by line."""
        heads = [head for line in lines if (head := _HEAD.match(line))]
        if len(heads) < len(lines):
            return False
        seq, ulid = self._before or (0, b"")
        ulids = [ulid, *(head[2] for head in heads)]
        if [int(head[1]) for head in heads] != list(range(seq + 1, seq + 1 + len(heads))):
            return False
        if not all(map(operator.lt, ulids, ulids[1:])):
            return False
        self._before = (seq + len(heads), ulids[-1])
        return True

    def _told(self) -> Findings:
        size, good = self._tree.size, self._good
        end = self._segments.end if self._segments else 0
        files = tuple(each.file for each in self._segments.segments) if self._segments else ()
        faults = [*self._located(), *self._order, *self._sidecar.values()]
        proven = good.size if good else 0
        return Findings(
            self._project,
            self._log,
            files,
            size,
            end,
            self._damaged,
            end - self._position,
            len(self._kept),
            proven,
            good.time if good else None,
            size - proven,
            tuple(faults[:FAULTS_SHOWN]),
        )

    def _lines(self, position: int) -> Iterator[list[bytes]]:
        return (
            iter(())
            if self._segments is None
            else raw_lines(self._segments.read_at, position, self._segments.end)
        )

    def _compare(self, kept: Kept) -> None:
        """The lines so far are as many as the checkpoint has: they give its root, or one of them is not what it was."""
        self._compare_tiles(self._tree.take_tiles())  # the partial ones were written with the checkpoint
        if self._tree.root() == kept.checkpoint.root:
            self._good = kept.checkpoint
        else:
            self._bad.append((kept, self._good))

    def _compare_tiles(self, found: list[tuple[Tile, bytes]]) -> None:
        """Tiles that are not those of the lines; missing ones are made again and are no fault."""
        for tile, hashes in found:
            stored = self._tiles.read(tile)
            if stored is not None and stored != hashes:
                first = tile.n * WIDTH ** (tile.level + 1)
                last = first + tile.width * WIDTH**tile.level
                message = f"{self._tiles.place(tile)} does not hold the hashes of these lines"
                self._sidecar[tile] = Fault("tile", message, first + 1, last)

    def _look_at(self, line: bytes, number: int, position: int) -> None:
        """Numbers go up by one and ids grow, whoever looks; a line that carries none is passed over."""
        matched = _HEAD.match(line)
        if matched is not None:
            seq, ulid = int(matched[1]), matched[2]
        else:
            place = place_of(line)
            self._damaged += isinstance(place, Damaged)
            if not isinstance(place, Place):
                return
            seq, ulid = place.seq, ulid_text(place.ulid).encode()
        before = self._before
        self._before = (seq, ulid)
        expected = before[0] + 1 if before else 1
        if seq != expected:
            message = f"number {expected} should stand here, and {seq} does"
        elif before is not None and ulid <= before[1]:
            message = "its id is not greater than the one before"
        else:
            return
        self._order.append(Fault("order", message, number, number, position, position + len(line)))

    def _located(self) -> list[Fault]:
        """The lines that were altered, if the tiles still are what was signed; else the range in which they are."""
        if not self._kept and self._tiles.exist():
            return [Fault("checkpoint_removed", "there are tiles of this log, and no checkpoint of it")]
        if not self._bad:
            return []
        first = self._segments.segments[0].start if self._segments else 0
        if first:
            message = f"the files before byte {first} are not here: nothing behind them can be proven"
            return [Fault("removed", message, 1, None, 0, first)]
        for kept, _good in reversed(self._bad):
            signed = self._signed_leaves(kept.checkpoint)
            if signed is not None:
                self._sidecar.clear()  # it is the lines that differ
                return self._differences(signed)
        kept, good = self._bad[0]
        return [self._somewhere(kept, good)]

    def _somewhere(self, kept: Kept, good: Checkpoint | None) -> Fault:
        size, begin = kept.checkpoint.size, good.size if good else 0
        at = (good.position or 0) if good else 0
        if size > self._tree.size:
            message = f"{kept.where} is over {size} lines, and {self._tree.size} are there"
            return Fault("truncated", message, self._tree.size + 1, size, self._position)
        message = f"lines {begin + 1} to {size} do not give the root of {kept.where}; those before do"
        if not begin:
            message = f"the first {size} lines do not give the root of {kept.where}"
        return Fault("altered", message, begin + 1, size, at, kept.checkpoint.position)

    def _signed_leaves(self, checkpoint: Checkpoint) -> list[bytes] | None:
        """The leaves by the tiles; None where they do not give the root that was signed."""
        tree = Frontier()
        leaves: list[bytes] = []
        for n in range(-(-checkpoint.size // WIDTH)):
            width = min(WIDTH, checkpoint.size - n * WIDTH)
            row = self._tiles.read(Tile(0, n, WIDTH)) or self._tiles.read(Tile(0, n, width)) or b""
            for at in range(0, width * HASH_BYTES, HASH_BYTES):
                leaves.append(row[at : at + HASH_BYTES])
                tree.add(leaves[-1])
        return leaves if tree.root() == checkpoint.root else None

    def _differences(self, signed: list[bytes]) -> list[Fault]:
        found: list[bytes] = []
        places = [0]
        for lines in self._lines(0):
            for line in lines:
                found.append(leaf_hash(line))
                places.append(places[-1] + len(line) + 1)
        faults = []
        for each in differences(signed, found):
            begin, end = places[each.at], places[each.at + each.extra]
            message = f"{each.missing} signed lines are not here, {each.extra} others are"
            last = each.at + max(each.missing if each.kind == "truncated" else each.extra, 1)
            faults.append(Fault(each.kind, message, each.at + 1, last, begin, end))
        return faults or [Fault("altered", "the checkpoints contradict each other")]
