"""Makes the proof that a line is in a log: a third party checks it with the public key alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.errors import ToolError
from app.proofs.proof import Proof
from app.proofs.tiles import subtrees
from app.proofs.tree import Subtree, included, inclusion, leaf_hash, node_hash
from app.records.events import Checkpointed, SignedLog
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.locate import locate
from app.store.raw import raw_lines
from app.store.segments import Segments, open_segments
from app.store.signer import Signed
from app.store.tile_files import TileFiles

LOGS: Final[dict[str, SignedLog]] = {"c": "claims", "r": "claims", "o": "observations", "d": "documents"}

Newest = Callable[[SignedLog], Signed | None]
"""The newest checkpoint of a log."""


def prove(
    root: DataDirectory, files: Files, project: str, record_id: str, newest: Newest, sign: Newest
) -> Proof:
    """The proof for the line with this id; where no checkpoint covers it, `sign` makes one first.

    `ToolError("not_found")` where there is no such line, `ToolError("conflict")` where the log was altered.
    """
    log = LOGS.get(record_id[:1]) if record_id[1:2] == "_" else None
    segments = open_segments(root, files, project, log) if log else None
    if log is None or segments is None:
        raise _unknown(project)
    try:
        found = locate(segments, record_id)
        if found is None:
            raise _unknown(project)
        position, line = found
        if segments.segments[0].start:
            raise ToolError(
                "conflict", "The first files of this log are not here, and a proof needs all of them."
            )
        signed = newest(log)
        if signed is None or signed.event.position <= position:
            signed = sign(log)
        if signed is None or signed.event.position <= position:
            raise _altered()
        return _proof(segments, TileFiles(root, files, project, log), position, line, signed.event)
    finally:
        segments.close()


def _proof(segments: Segments, tiles: TileFiles, position: int, line: bytes, event: Checkpointed) -> Proof:
    from base64 import b64decode

    leaf = sum(len(lines) for lines in raw_lines(segments.read_at, 0, position))
    for subtree in (subtrees(event.size, tiles.read), _of_lines(segments, event)):
        try:
            hashes = inclusion(leaf, event.size, subtree)
        except LookupError:
            continue  # the sidecar is not whole
        if included(leaf_hash(line), leaf, event.size, hashes) == b64decode(event.root):
            return Proof(line, leaf, tuple(hashes), event.note)
    raise _altered()


def _of_lines(segments: Segments, event: Checkpointed) -> Subtree:
    """The perfect subtrees by the lines themselves; read when they are first asked for."""
    rows: list[list[bytes]] = []

    def subtree(height: int, n: int) -> bytes:
        if not rows:
            leaves = [
                leaf_hash(line) for lines in raw_lines(segments.read_at, 0, event.position) for line in lines
            ]
            rows.append(leaves)
        while len(rows) <= height:
            below = rows[-1]
            rows.append([node_hash(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)])
        return rows[height][n]

    return subtree


def _unknown(project: str) -> ToolError:
    return ToolError("not_found", f"Project {project} has no line with this id.", field="id")


def _altered() -> ToolError:
    return ToolError(
        "conflict", "The log no longer gives the root that was signed; facts-mcp verify says where."
    )
