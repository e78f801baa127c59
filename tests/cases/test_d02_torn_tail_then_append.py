"""D02: a log that was cut anywhere in its last record goes on, and the torn bytes are kept and reported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.records.codec import body, line
from app.records.events import Asserted, Measured
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


CLAIMS = [
    line(seq, f"c_{ulid_text(seq)}", AT, body(Asserted(f"{said} \u20ac", [], "\u00fc", [])))
    for seq, said in ((1, "one"), (2, "two"), (3, "three"))
]
CLAIMS_START = len(CLAIMS[0]) + len(CLAIMS[1])
CLAIMS_FILE = "projects/p/logs/claims.jsonl"


def on_a_fast_device(desk: Any) -> Any:
    """The application with a log whose syncs cost nothing."""
    desk.log = FileLog(desk.settings.data_dir, desk.clock, files=unsynced(), report=desk._report)
    return desk


@pytest.mark.parametrize("kept", range(len(CLAIMS[2]) + 1))
def test_d02_claims_cut_at_any_byte_of_the_last_are_served_and_go_on(
    tmp_path: Path, kept: int, clerk: Any
) -> None:
    file = tmp_path / "data" / CLAIMS_FILE
    file.parent.mkdir(parents=True)
    content = b"".join(CLAIMS)[: CLAIMS_START + kept]
    file.write_bytes(content)
    first = on_a_fast_device(clerk())
    before = first.ask("history", claim_id=f"c_{ulid_text(2)}")["events"]
    first.ask("assert", statement="X", observed_by="anna")
    first.close()
    found = clerk().ask("query", order="oldest")["claims"]

    whole = kept >= len(CLAIMS[2]) - 1
    torn = kept > 0 and not whole
    assert [event["line"].encode() + b"\n" for event in before] == [CLAIMS[1]]
    expected = ["one \u20ac", "two \u20ac", *(["three \u20ac"] if whole else []), "X"]
    assert [claim["statement"] for claim in found] == expected
    assert first.reported == ([Damage(CLAIMS_FILE, CLAIMS_START, kept, "torn")] if torn else [])
    assert file.read_bytes().startswith(content)
