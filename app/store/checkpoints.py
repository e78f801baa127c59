"""The checkpoints of a project as they stand in their log: which are believed, and what is wrong with the others."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, get_args

from app.proofs.note import BadNote, Checkpoint, open_note
from app.records.codec import Record
from app.records.events import Checkpointed
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.lines import read_lines
from app.store.log import Damage, Line, LogName
from app.store.segments import open_segments

FaultKind = Literal[
    "altered",
    "reordered",
    "inserted",
    "removed",
    "truncated",
    "order",
    "tile",
    "checkpoint_altered",
    "checkpoint_removed",
]
FAULTS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)


class Fault(NamedTuple):
    """Something that is not as it was signed or written.

    Lines count from 1, `last` included; bytes are [begin, end) of the log. None: the place is not known.
    """

    kind: FaultKind
    message: str
    first: int | None = None
    last: int | None = None
    begin: int | None = None
    end: int | None = None


class Kept(NamedTuple):
    """A checkpoint that bears the right signature; `where` says which one, for messages."""

    checkpoint: Checkpoint
    where: str


class Chain(NamedTuple):
    """The checkpoints of all logs of a project, by log and in the order of their sizes, and their own faults.

    `damaged` are the lines that took no number, as a crash leaves them; of one that did the numbers miss it.
    """

    kept: dict[str, list[Kept]]
    faults: list[Fault]
    damaged: list[int]


def read_chain(root: DataDirectory, files: Files, project: str, public: bytes | None) -> Chain:
    """What `checkpoints.jsonl` holds; without a key nothing of it is believed. Raises OSError and StoreError."""
    chain = Chain({}, [], [])
    expected = 1
    damaged: list[Fault] = []
    for number, found in enumerate(_lines(root, files, project), 1):
        if isinstance(found, Damage):
            message = f"this is no line of a log: {found.reason}"
            damaged.append(Fault("checkpoint_altered", message, number, number, found.offset))
            continue
        record, position = found.record, found.position
        if not isinstance(record, Record):
            continue  # of a later version
        if record.seq == expected:
            chain.damaged.extend(fault.first or 0 for fault in damaged)
        else:
            missing = f"checkpoint {expected} should stand here, and {record.seq} does"
            chain.faults.extend(damaged or [Fault("checkpoint_removed", missing, number, number, position)])
        damaged.clear()
        expected = record.seq + 1
        checkpoint = _checked(project, record, public, chain)
        if isinstance(checkpoint, str):
            chain.faults.append(Fault("checkpoint_altered", checkpoint, number, number, position))
        else:
            earlier = chain.kept.setdefault(checkpoint.origin.rpartition("/")[2], [])
            earlier.append(Kept(checkpoint, f"checkpoint {record.seq}"))
    chain.damaged.extend(fault.first or 0 for fault in damaged)
    return chain


def _lines(root: DataDirectory, files: Files, project: str) -> Iterator[Line | Damage]:
    log: LogName = "checkpoints"
    segments = open_segments(root, files, project, log)
    if segments is None:
        return
    try:
        yield from read_lines(segments.read_at, 0, segments.end, segments.segments[0].file)
    finally:
        segments.close()


def _checked(project: str, record: Record, public: bytes | None, chain: Chain) -> Checkpoint | str:
    """The checkpoint of a line, or what is wrong with it."""
    if not isinstance(record.event, Checkpointed):
        return "this is no checkpoint"
    checkpoint = believed(project, record.event, public)
    earlier = chain.kept.get(record.event.log)
    if earlier and isinstance(checkpoint, Checkpoint) and checkpoint.size <= earlier[-1].checkpoint.size:
        return "it is for no more lines than one before"
    return checkpoint


def origin(project: str, log: str) -> str:
    """The name under which the tree of a log is signed."""
    return f"facts-mcp/{project}/{log}"


def believed(project: str, event: Checkpointed, public: bytes | None) -> Checkpoint | str:
    """What the note of a line says, or why it is not believed: nothing counts that the note does not say."""
    if public is None:
        return "there is no key to check it with"
    try:
        signed = open_note(event.note, public)
    except BadNote as error:
        return str(error)
    told = (origin(project, event.log), event.size, event.position, event.root)
    if told != (signed.origin, signed.size, signed.position, b64encode(signed.root).decode()):
        return "the line does not say what its note says"
    return signed
