"""What every log backend promises: acknowledged means durable, nothing is cut off, nothing damaged is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, Protocol, get_args

import msgspec

from app.records.codec import DamageReason, Future, Record

LogName = Literal["observations", "claims", "documents", "checkpoints"]

StorageReason = Literal[
    "suspect_same", "suspect_altered", "note_failed", "writer_failed", "altered", "unsigned"
]
DAMAGES: Final[tuple[str, ...]] = (*get_args(DamageReason), *get_args(StorageReason))
LOGS: Final[tuple[LogName, ...]] = get_args(LogName)


class Stored(msgspec.Struct, frozen=True):
    """The acknowledgement of one line: it is durable, at this byte position of its log.

    `created` is False where a guard found that the line stands there already.
    """

    seq: int
    id: str
    at: str
    log: LogName
    position: int
    created: bool = True


class Guard(Protocol):
    """Has the last word on a line: asked while nobody else can append, on the writer's thread."""

    @property
    def keys(self) -> frozenset[bytes]:
        """What it is about; of two appends that share a key, the second is asked when the first is written."""
        ...

    def decide(self) -> Stored | None:
        """None: write the line. Otherwise the line that stands for it, which is synced before it is answered.

        All earlier lines of the log are in its file. Raises `FactsError` where the append is refused.
        """
        ...


class Line(msgspec.Struct, frozen=True):
    """A stored line and the byte position at which it begins."""

    position: int
    record: Record | Future


class Damage(msgspec.Struct, frozen=True):
    """Bytes that are no record: the file (relative to the data directory), where, how many, and what kind.

    `length` leaves out the LF that ends the last damaged line. `suspect_same` and `suspect_altered`: the bytes
    of a failed sync, read again after a restart. `note_failed`: the note about them could not be written.
    `writer_failed`: no bytes at all, writing to the project (`file` is its directory) met an unforeseen error.
    `altered`: the lines no longer give the root that was signed. `unsigned`: a checkpoint could not be made.
    `detail` says more where there is more to say.
    """

    file: str
    offset: int
    length: int
    reason: DamageReason | StorageReason
    detail: str = ""


class Log(Protocol):
    """A backend that keeps the logs of all projects."""

    async def append(
        self, project: str, log: LogName, prefix: str, body: bytes, guard: Guard | None = None
    ) -> Stored:
        """Make one line durable and say where it stands; `prefix` is the letter of its id.

        Raises `StoreError` when it is not durable, `BadProjectName` or `Unstorable` for arguments that cannot be
        stored, and what `guard` raises. A call that is cancelled may have been written all the same.
        """
        ...

    def read(self, project: str, log: LogName, position: int = 0) -> Iterator[Line | Damage]:
        """All lines from `position` (a line's beginning) on, in order, and what lies between them."""
        ...

    def close(self, seconds: float | None = None) -> None:
        """Accept nothing more, make durable what waits, and let go of everything.

        After `seconds` what still waits gets `StoreError("closed")`, and may be written all the same.
        """
        ...
