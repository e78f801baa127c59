"""Proofs out of a registry: of which lines, and what happens where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import ToolError
from app.proofs.note import SigningKey
from app.proofs.proof import Proof, check
from app.records.codec import body
from app.records.events import Asserted, Measured, SignedLog
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.prove import prove
from app.store.signer import Signed, Signer

KEY = SigningKey(b"\x07" * 32)


class Desk:
    """A registry, a signer on it, and proofs of its lines."""

    def __init__(self, folder: Path) -> None:
        self.root = DataDirectory(str(folder), Files())
        self.log = FileLog(str(folder), SystemClock(), rotate_bytes=300)
        self.signer = Signer(self.root, Files(), SystemClock(), lambda: KEY, lambda _damage: None)
        self.signs = True

    def claim(self, statement: str) -> str:
        return asyncio.run(self.log.append("p", "claims", "c", body(Asserted(statement, [], "me", [])))).id

    def observation(self) -> str:
        event = Measured("t", {}, "2026-09-22T08:14:03.000000Z", {}, True, None)
        return asyncio.run(self.log.append("p", "observations", "o", body(event))).id

    def sign(self, log: SignedLog) -> Signed | None:
        if self.signs:
            self.signer.sign("p", log, self.log)
        return self.newest(log)

    def newest(self, log: SignedLog) -> Signed | None:
        return self.signer.newest("p", log)

    def prove(self, record_id: str) -> Proof:
        return prove(self.root, Files(), "p", record_id, self.newest, self.sign)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.log.close()


def test_every_line_of_a_log_is_proven(desk: Desk) -> None:
    ids = [desk.claim(f"s{number}") for number in range(7)]
    proofs = [desk.prove(each) for each in ids]

    assert [proof.leaf for proof in proofs] == list(range(7))
    assert {check(proof, KEY.public).size for proof in proofs} == {7}
    assert all(each.encode() in proof.line for each, proof in zip(ids, proofs, strict=True))


def test_a_line_of_a_sealed_file_is_proven(desk: Desk) -> None:
    ids = [desk.observation() for _ in range(6)]
    proof = desk.prove(ids[1])

    assert (proof.leaf, check(proof, KEY.public).origin) == (1, "facts-mcp/p/observations")


def test_a_line_that_is_covered_is_proven_under_the_newest_checkpoint(desk: Desk) -> None:
    first = desk.claim("a")
    desk.prove(first)
    desk.claim("b")

    assert check(desk.prove(first), KEY.public).size == 1


@pytest.mark.parametrize(
    "record_id", ["c_01K5Z9K2QX7T4BVWRM3P8QJHYD", "o_01K5Z9K2QX7T4BVWRM3P8QJHYD", "x_1", "c", ""]
)
def test_a_line_that_is_not_there_is_not_found(desk: Desk, record_id: str) -> None:
    desk.claim("a")

    with pytest.raises(ToolError) as refused:
        desk.prove(record_id)
    assert refused.value.code == "not_found"


def test_a_line_that_nothing_covers_is_not_proven(desk: Desk) -> None:
    claim_id = desk.claim("a")
    desk.signs = False

    with pytest.raises(ToolError) as refused:
        desk.prove(claim_id)
    assert refused.value.code == "conflict"
