"""D02: a log that was cut anywhere in its last record goes on, and the torn bytes are kept and reported."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.records.codec import body, line
from app.records.events import Measured
from app.records.ulid import ulid_text
from app.store.file import FileLog
from app.store.log import Damage, Line
from app.store.scripted import ScriptedFiles

AT = "2026-09-22T08:14:03.000000Z"
EVENT = Measured("t", {"ü": "€"}, AT, {"text": "\U0001f600 \u2028"}, True, None)
RECORDS = [line(seq, f"o_{ulid_text(seq)}", AT, body(EVENT)) for seq in (1, 2, 3)]
START = len(RECORDS[0]) + len(RECORDS[1])
FILE = "projects/p/logs/observations.jsonl"


def unsynced() -> ScriptedFiles:
    """A device whose syncs cost nothing: hundreds of logs are opened here, and none has to outlive the machine."""
    return ScriptedFiles(fsync=[0] * 100, fdatasync=[0] * 100)


async def append_x(log: FileLog) -> None:
    await log.append("p", "observations", "o", body(Measured("X", {}, AT, None, True, None)))


def prepare(path: Path, kept: int) -> bytes:
    """A good log of three records of which the last has `kept` bytes; returns its content."""
    (path / FILE).parent.mkdir(parents=True)
    content = b"".join(RECORDS)[: START + kept]
    (path / FILE).write_bytes(content)
    return content


@pytest.mark.parametrize("kept", range(len(RECORDS[2]) + 1))
def test_d02_a_log_cut_at_any_byte_of_its_last_record_goes_on(tmp_path: Path, kept: int) -> None:
    content = prepare(tmp_path, kept)
    reported: list[Damage] = []
    for _ in range(2):
        log = FileLog(str(tmp_path), SystemClock(), files=unsynced(), report=reported.append)
        asyncio.run(append_x(log))
        log.close()

    found = list(log.read("p", "observations"))

    whole = kept >= len(RECORDS[2]) - 1
    torn = kept > 0 and not whole
    seqs = [one.record.seq for one in found if isinstance(one, Line)]
    assert seqs == ([1, 2, 3, 4, 5] if whole else [1, 2, 3, 4])
    assert reported == ([Damage(FILE, START, kept, "torn")] if torn else [])
    assert [(one.offset, one.length) for one in found if isinstance(one, Damage)] == (
        [(START, kept)] if torn else []
    )
    assert (tmp_path / FILE).read_bytes().startswith(content)
