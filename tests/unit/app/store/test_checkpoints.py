"""The chain of checkpoints: which are believed, and what is wrong with the others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from app.clock import SystemClock
from app.proofs.note import SigningKey
from app.records.codec import body
from app.records.events import Asserted
from app.store.checkpoints import FAULTS, Chain, FaultKind, read_chain
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files

KEY = SigningKey(b"\x07" * 32)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """Three checkpoints over the claims of project `p`."""
    for number in range(3):
        log = FileLog(str(tmp_path), SystemClock(), key=lambda: KEY)
        asyncio.run(log.append("p", "claims", "c", body(Asserted(f"s{number}", [], "me", []))))
        log.close()
    return tmp_path / "projects/p/logs/checkpoints.jsonl"


def chain(tmp_path: Path, public: bytes | None = KEY.public) -> Chain:
    return read_chain(DataDirectory(str(tmp_path), Files()), Files(), "p", public)


def sizes(found: Chain) -> list[int]:
    return [each.checkpoint.size for each in found.kept.get("claims", [])]


def faults(found: Chain) -> list[tuple[str, int | None]]:
    return [(fault.kind, fault.first) for fault in found.faults]


def test_every_checkpoint_is_kept_in_order_and_says_which_it_is(tmp_path: Path, checkpoints: Path) -> None:
    found = chain(tmp_path)

    assert (sizes(found), found.faults) == ([1, 2, 3], [])
    assert [each.where for each in found.kept["claims"]] == ["checkpoint 1", "checkpoint 2", "checkpoint 3"]


def test_a_project_without_checkpoints_has_none(tmp_path: Path) -> None:
    assert chain(tmp_path) == Chain({}, [], [])


def test_without_a_key_nothing_is_believed(tmp_path: Path, checkpoints: Path) -> None:
    found = chain(tmp_path, None)

    assert (sizes(found), {fault.message for fault in found.faults}) == (
        [],
        {"there is no key to check it with"},
    )


def test_checkpoints_of_another_key_are_not_believed(tmp_path: Path, checkpoints: Path) -> None:
    found = chain(tmp_path, SigningKey(b"\x08" * 32).public)

    assert (sizes(found), faults(found)) == ([], [("checkpoint_altered", number) for number in (1, 2, 3)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"size":2', b'"size":4', id="the size"),
        pytest.param(b'"log":"claims","size":2', b'"log":"documents","size":2', id="the log"),
        pytest.param(b'"root":"', b'"root":"A', id="the root"),
        pytest.param(b'"note":"facts', b'"note":"farts', id="the note"),
        pytest.param(
            b'"type":"checkpointed"', b'"type":"retracted","claim_id":"c","reason":""', id="the type"
        ),
        pytest.param(b'{"v":1', b'{"v":', id="no line at all"),
    ],
)
def test_a_line_that_was_altered_is_named(tmp_path: Path, checkpoints: Path, old: bytes, new: bytes) -> None:
    lines = checkpoints.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(old, new, 1)
    checkpoints.write_bytes(b"".join(lines))
    found = chain(tmp_path)

    assert ("checkpoint_altered", 2) in faults(found)
    assert sizes(found)[0] == 1


def test_a_line_that_is_gone_is_named_by_the_numbers(tmp_path: Path, checkpoints: Path) -> None:
    lines = checkpoints.read_bytes().splitlines(keepends=True)
    checkpoints.write_bytes(lines[0] + lines[2])
    found = chain(tmp_path)

    assert (sizes(found), faults(found)) == ([1, 3], [("checkpoint_removed", 2)])
    assert found.faults[0].begin == len(lines[0])


def test_an_old_line_that_was_put_behind_is_no_news(tmp_path: Path, checkpoints: Path) -> None:
    lines = checkpoints.read_bytes().splitlines(keepends=True)
    checkpoints.write_bytes(b"".join([*lines, lines[0].replace(b'"seq":1', b'"seq":4')]))
    found = chain(tmp_path)

    assert (sizes(found), faults(found)) == ([1, 2, 3], [("checkpoint_altered", 4)])


def test_every_kind_of_fault_is_listed() -> None:
    assert get_args(FaultKind) == FAULTS
