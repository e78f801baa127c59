"""Tiles: their names, which ones a tree has, and trees that go on from them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.proofs.tiles import WIDTH, Tile, TileTree, last_tiles, subtrees, tiles
from app.proofs.tree import Frontier, frontier, included, inclusion, leaf_hash

LEAVES = [leaf_hash(b"%d" % number) for number in range(66_000)]
SIZES = [1, 2, 255, 256, 257, 511, 512, 65_536, 66_000]


def kept(sizes: list[int]) -> tuple[TileTree, dict[Tile, bytes]]:
    """A tree that was grown to these sizes, and the tiles that it gave off at each."""
    tree = TileTree()
    found: dict[Tile, bytes] = {}
    for size in sizes:
        tree.extend(LEAVES[tree.size : size])
        found.update(tree.take_tiles())
    return tree, found


@pytest.mark.parametrize(
    ("tile", "path"),
    [
        (Tile(0, 0, 256), "tile/0/000"),
        (Tile(0, 7, 3), "tile/0/007.p/3"),
        (Tile(1, 1234, 256), "tile/1/x001/234"),
        (Tile(2, 1234067, 255), "tile/2/x001/x234/067.p/255"),
    ],
)
def test_a_tile_has_the_name_that_its_specification_gives(tile: Tile, path: str) -> None:
    assert "/".join(tile.path) == path


def test_a_tree_has_full_tiles_and_one_partial_a_level() -> None:
    assert list(tiles(515)) == [
        *(Tile(0, 0, 256), Tile(0, 1, 256), Tile(0, 2, 3)),
        Tile(1, 0, 2),
    ]


def test_a_tree_that_grew_has_new_what_it_did_not_have() -> None:
    assert list(tiles(515, since=512)) == [Tile(0, 2, 3)]
    assert list(tiles(768, since=515)) == [Tile(0, 2, 256), Tile(1, 0, 3)]
    assert list(tiles(512, since=512)) == []


@pytest.mark.parametrize("size", SIZES)
def test_the_root_by_tiles_is_that_of_the_leaves(size: int) -> None:
    plain = Frontier()
    for leaf in LEAVES[:size]:
        plain.add(leaf)
    tree, found = kept([size])

    assert tree.root() == plain.root() == frontier(size, subtrees(size, found.get)).root()
    assert sorted(found) == sorted(tiles(size))


@pytest.mark.parametrize(("before", "after"), list(pairwise(SIZES)))
def test_a_tree_goes_on_from_its_last_tiles(before: int, after: int) -> None:
    _tree, found = kept([before])
    rows = {tile.level: found[tile] for tile in last_tiles(before)}
    tree = TileTree(before, [rows.get(level, b"") for level in range(max(rows, default=0) + 1)])
    tree.extend(LEAVES[before:after])

    whole, everything = kept([after])
    assert tree.root() == whole.root()
    given = dict(tree.take_tiles())
    assert given == {tile: everything[tile] for tile in given}
    assert set(tiles(after, before)) <= set(given)


def test_a_leaf_is_proven_by_the_tiles_alone() -> None:
    tree, found = kept([257, 66_000])
    proof = inclusion(12_345, 66_000, subtrees(66_000, found.get))

    assert included(LEAVES[12_345], 12_345, 66_000, proof) == tree.root()


@pytest.mark.parametrize("content", [None, b"", b"x" * 31])
def test_a_tile_that_is_missing_or_short_is_said(content: bytes | None) -> None:
    with pytest.raises(LookupError, match=r"tile/0/000\.p/3"):
        frontier(3, subtrees(3, lambda _tile: content))


def test_a_full_row_leaves_no_partial_tile() -> None:
    assert last_tiles(WIDTH) == [Tile(1, 0, 1)]
    assert last_tiles(0) == []
