"""Every kind of byte of a registry altered: what `facts-mcp verify` finds, where, and what only `--against` finds."""

from __future__ import annotations

import asyncio
import json
import shutil
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.cli import run
from app.clock import SystemClock
from app.proofs.note import SigningKey
from app.records.codec import body
from app.records.events import Asserted
from app.store.file import FileLog
from app.store.keys import load_or_create_key

FIRST, SECOND, UNSIGNED = 300, 60, 5
"""Claims under the first checkpoint, under the second, and behind it."""

Alter = Callable[["Registry"], None]


class Registry:
    """A registry with two checkpoints over its claims, and some lines behind them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = folder / "projects/p/logs/claims.jsonl"
        self.checkpoints = folder / "projects/p/logs/checkpoints.jsonl"
        self.tiles = folder / "projects/p/tiles/claims/tile"

    def grow(self, count: int, first: int, *, is_signed: bool) -> None:
        seed = load_or_create_key(str(self.folder), name="signing")
        log = FileLog(str(self.folder), SystemClock(), key=(lambda: SigningKey(seed)) if is_signed else None)

        async def together() -> None:
            for number in range(first, first + count):
                await log.append("p", "claims", "c", body(Asserted(f"statement {number}", [], "me", [])))

        asyncio.run(together())
        log.close()

    def lines(self) -> list[bytes]:
        return self.claims.read_bytes().split(b"\n")[:-1]

    def write(self, lines: list[bytes]) -> None:
        self.claims.write_bytes(b"".join(line + b"\n" for line in lines))

    def byte_of(self, line: int) -> int:
        """Where a line (from 1) begins."""
        return sum(len(each) + 1 for each in self.lines()[: line - 1])

    def forget_tiles(self) -> None:
        shutil.rmtree(self.tiles)

    def newest_note(self) -> str:
        note: str = json.loads(self.checkpoints.read_bytes().splitlines()[-1])["note"]
        return note


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    registry = Registry(tmp_path_factory.mktemp("original"))
    registry.grow(FIRST, 1, is_signed=True)
    registry.grow(SECOND, FIRST + 1, is_signed=True)
    registry.grow(UNSIGNED, FIRST + SECOND + 1, is_signed=False)
    return registry.folder


@pytest.fixture
def registry(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    shutil.copytree(original, tmp_path / "data")
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path / "data"))
    return Registry(tmp_path / "data")


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """`verify(*arguments)`: the exit status and all faults with the log they are of."""

    def call(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
        status = run(["verify", "--json", *arguments])
        found = json.loads(capsys.readouterr().out)
        return status, [{**fault, "log": each["log"]} for each in found for fault in each["faults"]]

    return call


def places(faults: list[dict[str, Any]]) -> list[tuple[str, int | None, int | None]]:
    return [(fault["kind"], fault["first"], fault["last"]) for fault in faults]


def test_nothing_is_found_in_a_registry_that_nobody_touched(registry: Registry, verify: Any) -> None:
    assert verify() == (0, [])


def statement(registry: Registry) -> None:
    registry.claims.write_bytes(registry.claims.read_bytes().replace(b"statement 120", b"statement 12O"))


def time(registry: Registry) -> None:
    lines = registry.lines()
    lines[119] = lines[119].replace(b'"at":"2', b'"at":"1')
    registry.write(lines)


def order(registry: Registry) -> None:
    lines = registry.lines()
    lines[119], lines[120] = lines[120], lines[119]
    registry.write(lines)


def removed(line: int) -> Alter:
    def alter(registry: Registry) -> None:
        lines = registry.lines()
        del lines[line - 1]
        registry.write(lines)

    return alter


def inserted(registry: Registry) -> None:
    lines = registry.lines()
    lines.insert(119, lines[118].replace(b"statement 119", b"statement of mine"))
    registry.write(lines)


def rubbish(registry: Registry) -> None:
    lines = registry.lines()
    lines.insert(119, b"garbage")
    registry.write(lines)


def blank(registry: Registry) -> None:
    lines = registry.lines()
    lines.insert(119, b"")
    registry.write(lines)


def carriage_return(registry: Registry) -> None:
    lines = registry.lines()
    lines[119] += b"\r"
    registry.write(lines)


def line_feed(registry: Registry) -> None:
    content = bytearray(registry.claims.read_bytes())
    content[registry.byte_of(121) - 1 : registry.byte_of(121)] = b" "
    registry.claims.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("alter", "kind", "line"),
    [
        pytest.param(statement, "altered", 120, id="a statement"),
        pytest.param(time, "altered", 120, id="a time"),
        pytest.param(order, "reordered", 120, id="the order of two lines"),
        pytest.param(removed(1), "removed", 1, id="the first line removed"),
        pytest.param(removed(120), "removed", 120, id="a line removed"),
        # The line behind it stands in its place now; hashes cannot tell that from an alteration, its number can.
        pytest.param(removed(FIRST + SECOND), "altered", FIRST + SECOND, id="the last signed line removed"),
        pytest.param(inserted, "inserted", 120, id="a line inserted"),
        pytest.param(rubbish, "inserted", 120, id="rubbish inserted"),
        pytest.param(blank, "inserted", 120, id="a blank line inserted"),
        pytest.param(carriage_return, "altered", 120, id="one byte at the end of a line"),
        pytest.param(line_feed, "altered", 120, id="a line feed"),
    ],
)
def test_an_alteration_is_found_at_its_line_and_byte(
    registry: Registry, verify: Any, alter: Alter, kind: str, line: int
) -> None:
    begin = registry.byte_of(line)
    alter(registry)
    status, faults = verify()

    first = next(fault for fault in faults if fault["kind"] not in ("order", "tile"))
    assert (status, first["kind"], first["first"], first["begin"]) == (1, kind, line, begin)


@pytest.mark.parametrize(
    ("alter", "first", "last"),
    [
        pytest.param(statement, 1, FIRST, id="under the first checkpoint"),
        pytest.param(
            lambda registry: registry.claims.write_bytes(
                registry.claims.read_bytes().replace(b"statement 333", b"statement 33E")
            ),
            FIRST + 1,
            FIRST + SECOND,
            id="under the second",
        ),
    ],
)
def test_without_tiles_the_range_between_two_checkpoints_is_named(
    registry: Registry, verify: Any, alter: Alter, first: int, last: int
) -> None:
    begin, end = registry.byte_of(first), registry.byte_of(last + 1)
    alter(registry)
    registry.forget_tiles()
    status, (fault,) = verify()

    assert (status, fault["kind"], fault["first"], fault["last"]) == (1, "altered", first, last)
    assert (fault["begin"], fault["end"]) == (begin, end)


def test_a_line_that_is_gone_is_named_by_the_numbers_even_without_tiles(
    registry: Registry, verify: Any
) -> None:
    removed(120)(registry)
    registry.forget_tiles()
    status, faults = verify()

    assert (status, places(faults)) == (1, [("altered", 1, FIRST), ("order", 120, 120)])


@pytest.mark.parametrize(
    "kept", [pytest.param(FIRST + 10, id="between lines"), pytest.param(None, id="within a line")]
)
def test_a_log_that_was_cut_is_found(registry: Registry, verify: Any, kept: int | None) -> None:
    lines = FIRST + 10 if kept is None else kept
    end = registry.byte_of(lines + 1)
    registry.claims.write_bytes(registry.claims.read_bytes()[: end + (20 if kept is None else 0)])
    status, (fault,) = verify()

    assert (status, fault["kind"], fault["first"], fault["begin"]) == (1, "truncated", lines + 1, end)


def test_a_log_that_was_removed_is_found(registry: Registry, verify: Any) -> None:
    registry.claims.unlink()
    status, (fault,) = verify()

    assert (status, fault["kind"], fault["first"]) == (1, "truncated", 1)


@pytest.mark.parametrize(
    ("tile", "first", "last"), [("0/000", 1, 256), ("0/001.p/104", 257, 360), ("1/000.p/1", 1, 256)]
)
def test_a_sidecar_that_was_rewritten_is_found(
    registry: Registry, verify: Any, tile: str, first: int, last: int
) -> None:
    path = registry.tiles / tile
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
    status, (fault,) = verify()

    assert (status, fault["kind"], fault["first"], fault["last"]) == (1, "tile", first, last)
    assert f"tile/{tile}" in fault["message"]


def test_a_sidecar_that_was_rewritten_to_fit_an_alteration_hides_nothing(
    registry: Registry, verify: Any
) -> None:
    statement(registry)
    leaves = [sha256(b"\0" + line).digest() for line in registry.lines()]
    (registry.tiles / "0/000").write_bytes(b"".join(leaves[:256]))
    status, faults = verify()

    assert (status, faults[0]["kind"], faults[0]["first"], faults[0]["last"]) == (1, "altered", 1, FIRST)


def test_a_checkpoint_that_was_altered_is_found(registry: Registry, verify: Any) -> None:
    registry.checkpoints.write_bytes(registry.checkpoints.read_bytes().replace(b'"size":300', b'"size":301'))
    status, faults = verify()

    assert (status, places(faults)) == (1, [("checkpoint_altered", 1, 1)])


def test_a_checkpoint_that_was_removed_is_found(registry: Registry, verify: Any) -> None:
    registry.checkpoints.write_bytes(registry.checkpoints.read_bytes().split(b"\n", 1)[1])
    status, faults = verify()

    assert (status, places(faults)) == (1, [("checkpoint_removed", 1, 1)])


def test_checkpoints_that_were_all_removed_are_found(registry: Registry, verify: Any) -> None:
    registry.checkpoints.unlink()
    status, (fault,) = verify()

    assert (status, fault["kind"], fault["log"]) == (1, "checkpoint_removed", "claims")


def test_a_line_behind_the_newest_checkpoint_can_be_altered_unnoticed_as_the_page_says(
    registry: Registry, verify: Any
) -> None:
    content = registry.claims.read_bytes()
    registry.claims.write_bytes(content.replace(b"statement 363", b"statement 36E"))

    assert verify() == (0, [])


def test_a_rewrite_by_whoever_holds_the_key_is_found_with_a_checkpoint_kept_elsewhere(
    registry: Registry, verify: Any, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.note"
    kept.write_text(registry.newest_note())
    before = verify("--against", str(kept))
    for path in (registry.claims, registry.checkpoints):
        path.unlink()
    registry.forget_tiles()
    shutil.rmtree(registry.folder / "projects/p/tiles")
    registry.grow(FIRST + SECOND, 1000, is_signed=True)

    assert (before, verify()) == ((0, []), (0, []))
    status, (fault,) = verify("--against", str(kept))
    assert (status, fault["kind"]) == (1, "altered")
    assert "the checkpoint kept elsewhere" in fault["message"]


def test_cutting_everything_back_to_an_earlier_checkpoint_is_found_with_one_kept_elsewhere(
    registry: Registry, verify: Any, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(registry.checkpoints.read_bytes().splitlines()[-1])
    registry.claims.write_bytes(registry.claims.read_bytes()[: registry.byte_of(FIRST + 1)])
    registry.checkpoints.write_bytes(registry.checkpoints.read_bytes().splitlines(keepends=True)[0])

    assert verify() == (0, [])
    status, (fault,) = verify("--against", str(kept))
    assert (status, fault["kind"], fault["first"], fault["last"]) == (
        1,
        "truncated",
        FIRST + 1,
        FIRST + SECOND,
    )


def test_a_proof_is_checked_by_somebody_else_with_the_public_key_alone(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    claim_id = json.loads(registry.lines()[201])["id"]
    assert run(["prove", claim_id, "--project", "p", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    key = Ed25519PublicKey.from_public_bytes(b64decode(told["public_key"]))

    # What follows uses nothing of the product: RFC 6962, 2.1.1 upwards, then the signature over the text of the note.
    number, last = told["leaf"], told["size"] - 1
    root = sha256(b"\0" + told["line"].encode()).digest()
    for text in told["hashes"]:
        other = b64decode(text)
        if number & 1 or number == last:
            root = sha256(b"\1" + other + root).digest()
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            root = sha256(b"\1" + root + other).digest()
        number, last = number >> 1, last >> 1
    note, signature = told["checkpoint"].split("\n\n")
    key.verify(b64decode(signature.split(" ")[2])[4:], f"{note}\n".encode())
    with pytest.raises(InvalidSignature):
        key.verify(b64decode(signature.split(" ")[2])[4:], f"{note}x\n".encode())

    assert note.split("\n")[1:3] == [str(told["size"]), told["checkpoint"].split("\n")[2]]
    assert b64decode(note.split("\n")[2]) == root
    assert json.loads(told["line"])["statement"] == "statement 202"


def test_a_line_that_no_checkpoint_covers_gets_one_with_its_proof(
    registry: Registry, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    claim_id = json.loads(registry.lines()[-1])["id"]
    assert run(["prove", claim_id, "--project", "p"]) == 0
    proof = tmp_path / "claim.tlog-proof"
    proof.write_text(capsys.readouterr().out)
    assert run(["prove", "--check", str(proof), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    total = FIRST + SECOND + UNSIGNED
    assert (told["origin"], told["size"], told["leaf"]) == ("facts-mcp/p/claims", total, total - 1)
    assert len(registry.checkpoints.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("tiles", ["there", "gone", "wrong"])
def test_a_proof_needs_no_sidecar(registry: Registry, capsys: pytest.CaptureFixture[str], tiles: str) -> None:
    if tiles == "gone":
        registry.forget_tiles()
    if tiles == "wrong":
        (registry.tiles / "0/000").write_bytes(b"\0" * 8192)
    claim_id = json.loads(registry.lines()[7])["id"]

    assert run(["prove", claim_id, "--project", "p", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["leaf"] == 7


def test_a_line_that_was_altered_is_not_proven(
    registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    statement(registry)
    claim_id = json.loads(registry.lines()[119])["id"]

    assert run(["prove", claim_id, "--project", "p"]) == 1
    assert "conflict: The log no longer gives the root that was signed" in capsys.readouterr().err
