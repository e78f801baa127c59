"""One walk over the logs of a project: what is counted, what is proven, and progress; tampering is in the cases."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import app.store.verify as module
from app.clock import SystemClock
from app.proofs.note import Checkpoint, SigningKey
from app.records.codec import body
from app.records.events import Asserted, Measured
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.verify import Findings, verify_project

KEY = SigningKey(b"\x07" * 32)
MEASURED = body(Measured("t", {}, "2026-09-22T08:14:03.000000Z", {}, True, None))


def grow(folder: Path, count: int, *, is_signed: bool = True, rotate_bytes: int = 0) -> None:
    key = (lambda: KEY) if is_signed else None
    log = FileLog(str(folder), SystemClock(), key=key, rotate_bytes=rotate_bytes)

    async def one_by_one() -> None:
        for number in range(count):
            await log.append("p", "claims", "c", body(Asserted(f"s{number}", [], "me", [])))
            await log.append("p", "observations", "o", MEASURED)

    asyncio.run(one_by_one())
    log.close()


def verified(folder: Path, *against: Checkpoint) -> dict[str, Findings]:
    root = DataDirectory(str(folder), Files())
    return {each.log: each for each in verify_project(root, Files(), "p", KEY.public, against)}


def test_what_is_under_the_newest_checkpoint_is_proven_and_the_rest_is_counted(tmp_path: Path) -> None:
    grow(tmp_path, 3)
    grow(tmp_path, 2, is_signed=False)
    found = verified(tmp_path)

    claims = found["claims"]
    assert (claims.lines, claims.proven, claims.unproven, claims.checkpoints) == (5, 3, 2, 1)
    assert (claims.bytes, claims.faults) == ((tmp_path / claims.files[0]).stat().st_size, ())
    assert (found["observations"].proven, sorted(found)) == (3, ["claims", "observations"])
    assert claims.proven_at is not None


def test_a_project_without_logs_has_nothing_to_say(tmp_path: Path) -> None:
    assert verified(tmp_path) == {}


def test_a_log_without_a_checkpoint_is_not_proven(tmp_path: Path) -> None:
    grow(tmp_path, 2, is_signed=False)
    claims = verified(tmp_path)["claims"]

    assert (claims.proven, claims.proven_at, claims.unproven, claims.faults) == (0, None, 2, ())


def test_the_tree_runs_on_over_sealed_files(tmp_path: Path) -> None:
    grow(tmp_path, 20, rotate_bytes=600)
    observations = verified(tmp_path)["observations"]

    assert len(observations.files) > 2
    assert (observations.lines, observations.proven, observations.faults) == (20, 20, ())


def test_a_sealed_file_that_was_altered_or_moved_away_is_found(tmp_path: Path) -> None:
    grow(tmp_path, 20, rotate_bytes=600)
    second = tmp_path / verified(tmp_path)["observations"].files[1]
    content = second.read_bytes()
    second.chmod(0o600)
    second.write_bytes(content.replace(b'"ok":true', b'"ok":null', 1))
    altered = verified(tmp_path)["observations"].faults
    second.unlink()

    assert [fault.kind for fault in altered] == ["altered"]
    assert altered[0].first is not None
    assert verified(tmp_path)["observations"].faults != ()


def test_files_that_are_missing_before_the_others_are_named(tmp_path: Path) -> None:
    grow(tmp_path, 20, rotate_bytes=600)
    before = verified(tmp_path)["observations"]
    (tmp_path / before.files[0]).unlink()
    start = int(before.files[1].rpartition("-")[2].removesuffix(".jsonl"))
    (fault,) = verified(tmp_path)["observations"].faults

    assert (fault.kind, fault.first, fault.begin, fault.end) == ("removed", 1, 0, start)
    assert fault.message == f"the files before byte {start} are not here: nothing behind them can be proven"


def test_damage_and_an_unfinished_line_are_counted_and_are_no_fault(tmp_path: Path) -> None:
    grow(tmp_path, 1, is_signed=False)
    with (tmp_path / "projects/p/logs/claims.jsonl").open("ab") as file:
        file.write(b"garbage\n\nunfinished")
    claims = verified(tmp_path)["claims"]

    assert (claims.lines, claims.damaged, claims.unfinished_bytes, claims.faults) == (3, 2, 10, ())


def test_a_line_of_a_later_version_counts_in_the_order(tmp_path: Path) -> None:
    grow(tmp_path, 1, is_signed=False)
    path = tmp_path / "projects/p/logs/claims.jsonl"
    with path.open("ab") as file:
        file.write(b'{"v":2,"seq":2,"id":"c_7ZZZZZZZZZZZZZZZZZZZZZZZZZ","type":"asserted"}\n')
        file.write(b'{"v":2,"seq":3,"id":"c_01K5Z9K2QX7T4BVWRM3P8QJHYD","type":"asserted"}\n')
    (fault,) = verified(tmp_path)["claims"].faults

    assert (fault.kind, fault.first, fault.message) == (
        "order",
        3,
        "its id is not greater than the one before",
    )


def test_of_many_faults_the_first_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FAULTS_SHOWN", 2)
    grow(tmp_path, 1, is_signed=False)
    path = tmp_path / "projects/p/logs/claims.jsonl"
    path.write_bytes(path.read_bytes() * 9)

    assert len(verified(tmp_path)["claims"].faults) == 2


def test_progress_is_told_of_every_byte(tmp_path: Path) -> None:
    grow(tmp_path, 5)
    told: list[int] = []
    root = DataDirectory(str(tmp_path), Files())
    found = verify_project(root, Files(), "p", KEY.public, progress=told.append)

    assert sum(told) == sum(each.bytes for each in found)


def test_nothing_is_written(tmp_path: Path) -> None:
    grow(tmp_path, 2)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    verified(tmp_path)

    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_checkpoint_of_another_log_is_not_asked_of_this_one(tmp_path: Path) -> None:
    grow(tmp_path, 2)
    foreign = Checkpoint("facts-mcp/q/claims", 99, b"r" * 32, None, None)

    assert [each.faults for each in verified(tmp_path, foreign).values()] == [(), ()]
