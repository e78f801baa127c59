"""Checkpoints: what is signed, from where a signer goes on, and that nothing is signed over an alteration."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.proofs.note import SigningKey, open_note
from app.proofs.tree import Frontier, leaf_hash
from app.records.codec import Record, body
from app.records.events import Asserted, Checkpointed
from app.store.checkpoints import origin
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.log import Damage, Line, Stored
from app.store.signer import Signer

KEY = SigningKey(b"\x07" * 32)


class Desk:
    """A registry without a notary, and signers on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = FileLog(str(folder), SystemClock())
        self.damage: list[Damage] = []
        self.claims = folder / "projects/p/logs/claims.jsonl"
        self.checkpoints = folder / "projects/p/logs/checkpoints.jsonl"

    def claim(self, count: int = 1) -> None:
        async def together() -> None:
            lines = [body(Asserted(f"s{number}", [], "me", [])) for number in range(count)]
            await asyncio.gather(*(self.log.append("p", "claims", "c", line) for line in lines))

        asyncio.run(together())

    def signer(self, key: SigningKey = KEY) -> Signer:
        root = DataDirectory(str(self.folder), Files())
        return Signer(root, Files(), SystemClock(), lambda: key, self.damage.append)

    def sign(self, signer: Signer | None = None) -> Stored | None:
        return (signer or self.signer()).sign("p", "claims", self.log)

    def signed(self) -> list[Checkpointed]:
        found = [line.record for line in self.log.read("p", "checkpoints") if isinstance(line, Line)]
        return [
            each.event for each in found if isinstance(each, Record) and isinstance(each.event, Checkpointed)
        ]

    def sizes(self) -> list[int]:
        return [each.size for each in self.signed()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.log.close()


def test_a_checkpoint_is_over_the_exact_lines_and_says_where_they_end(desk: Desk) -> None:
    desk.claim(3)
    stored = desk.sign()
    (event,) = desk.signed()
    tree = Frontier()
    for line in desk.claims.read_bytes().split(b"\n")[:-1]:
        tree.add(leaf_hash(line))

    signed = open_note(event.note, KEY.public)
    assert (signed.origin, signed.size, signed.root) == (origin("p", "claims"), 3, tree.root())
    assert (event.size, event.position, signed.position) == (3, desk.claims.stat().st_size, event.position)
    assert stored is not None
    assert stored.id.startswith("k_")


def test_what_is_signed_already_is_not_signed_again(desk: Desk) -> None:
    desk.claim()
    signer = desk.signer()
    desk.sign(signer)

    assert (desk.sign(signer), desk.sign(), desk.sizes()) == (None, None, [1])


def test_a_log_that_is_not_there_is_not_signed(desk: Desk) -> None:
    assert (desk.sign(), desk.signed()) == (None, [])


@pytest.mark.parametrize("others", [False, True], ids=["the same server", "another one"])
@pytest.mark.parametrize("tiles", [True, False], ids=["with tiles", "without tiles"])
def test_a_tree_goes_on_where_it_ended(desk: Desk, *, others: bool, tiles: bool) -> None:
    signer = desk.signer()
    for count in (2, 300, 1, 255):
        desk.claim(count)
        desk.sign(desk.signer() if others else signer)
        if not tiles:
            for path in desk.folder.rglob("tiles/*/tile/*/*"):
                if path.is_file():
                    path.unlink()

    tree, roots = Frontier(), {}
    for line in desk.claims.read_bytes().split(b"\n")[:-1]:
        tree.add(leaf_hash(line))
        roots[tree.size] = tree.root()
    assert desk.sizes() == [2, 302, 303, 558]
    assert all(open_note(each.note, KEY.public).root == roots[each.size] for each in desk.signed())
    assert desk.damage == []


def test_a_server_that_has_seen_less_than_another_signs_on_from_there(desk: Desk) -> None:
    first, second = desk.signer(), desk.signer()
    for signer in (first, second, second, first):
        desk.claim(2)
        desk.sign(signer)

    assert (desk.sizes(), desk.damage) == ([2, 4, 6, 8], [])


def test_only_one_partial_tile_a_level_stays(desk: Desk) -> None:
    signer = desk.signer()
    for count in (3, 4, 300):
        desk.claim(count)
        desk.sign(signer)

    tiles = desk.folder / "projects/p/tiles/claims/tile"
    assert sorted(path.relative_to(tiles).as_posix() for path in tiles.rglob("*") if path.is_file()) == [
        "0/000",
        "0/001.p/51",
        "1/000.p/1",
    ]


def flipped(content: bytes) -> bytes:
    return content.replace(b'"s0"', b'"S0"')


@pytest.mark.parametrize("tiles", [True, False], ids=["with tiles", "without tiles"])
@pytest.mark.parametrize("others", [False, True], ids=["the same server", "another one"])
@pytest.mark.parametrize(
    "alter",
    [
        pytest.param(flipped, id="a statement"),
        pytest.param(lambda content: content[: len(content) // 2], id="a log that was cut"),
        pytest.param(lambda content: content[:-1].rpartition(b"\n")[0] + b"\n", id="a line that is gone"),
        pytest.param(lambda _content: b"", id="a log that was moved away"),
    ],
)
def test_nothing_is_signed_over_an_alteration_and_that_is_said_once(
    desk: Desk, alter: Callable[[bytes], bytes], *, others: bool, tiles: bool
) -> None:
    desk.claim(3)
    signer = desk.signer()
    desk.sign(signer)
    size = desk.claims.stat().st_size
    content = desk.claims.read_bytes()
    desk.claims.unlink()
    desk.claims.write_bytes(alter(content))
    if not tiles:
        for path in desk.folder.rglob("tiles/*/tile/*/*/*"):
            path.unlink()
    if others:
        signer = desk.signer()
    desk.claim(5)

    assert (desk.sign(signer), desk.sign(signer), desk.sizes()) == (None, None, [3])
    assert desk.damage == [Damage("projects/p/logs/claims.jsonl", 0, size, "altered")]


def test_a_checkpoint_of_another_key_is_not_gone_on_from(desk: Desk) -> None:
    desk.claim(2)
    desk.sign(desk.signer(SigningKey(b"\x08" * 32)))
    desk.claim()
    desk.sign()

    assert (desk.sizes(), desk.signer().newest("p", "claims").event.size) == ([2, 3], 3)  # type: ignore[union-attr]  # it is there


def test_a_tile_with_more_than_its_hashes_is_not_gone_on_from(desk: Desk) -> None:
    desk.claim(3)
    desk.sign()
    (tile,) = desk.folder.rglob("tiles/*/tile/0/*/*")
    tile.write_bytes(tile.read_bytes() + bytes(32))
    desk.claim(2)
    desk.sign()

    tree = Frontier()
    for line in desk.claims.read_bytes().split(b"\n")[:-1]:
        tree.add(leaf_hash(line))
    assert open_note(desk.signed()[-1].note, KEY.public).root == tree.root()


def test_the_lines_of_a_full_last_tile_are_looked_at_too(desk: Desk) -> None:
    desk.claim(256)
    desk.sign()
    desk.claims.write_bytes(flipped(desk.claims.read_bytes()))
    desk.claim()

    assert (desk.sign(), desk.sizes()) == (None, [256])


def test_no_tile_is_there_before_its_checkpoint(desk: Desk) -> None:
    desk.claim()

    class Full:
        async def append(self, *_arguments: object) -> Stored:
            raise StoreError("no_space", "the device is full")

    with pytest.raises(StoreError):
        desk.signer().sign("p", "claims", Full())

    assert list(desk.folder.rglob("tiles/*")) == []


@pytest.mark.parametrize(
    ("said", "instead"),
    [(b'"size":1', b'"size":2'), (b'"root":"', b'"root":"A'), (b'"position":', b'"position":1')],
)
def test_a_line_that_does_not_say_what_its_note_says_is_passed_over(
    desk: Desk, said: bytes, instead: bytes
) -> None:
    desk.claim()
    desk.sign()
    assert said in desk.checkpoints.read_bytes()
    desk.checkpoints.write_bytes(desk.checkpoints.read_bytes().replace(said, instead))

    assert desk.signer().newest("p", "claims") is None


def test_a_server_that_was_overtaken_while_it_signed_adds_nothing(desk: Desk) -> None:
    desk.claim()
    slow, quick = desk.signer(), desk.signer()

    class Overtaken:
        async def append(self, *arguments: object) -> Stored:
            await asyncio.to_thread(desk.sign, quick)
            return await desk.log.append(*arguments)  # type: ignore[arg-type]  # handed on as they came

    stored = slow.sign("p", "claims", Overtaken())

    assert (stored is not None and not stored.created, desk.sizes()) == (True, [1])
