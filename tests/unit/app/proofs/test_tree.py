"""Merkle trees: the published vectors, growth by leaves, proofs that hold and proofs that do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.proofs.tree import (
    EMPTY_ROOT,
    Frontier,
    frontier,
    included,
    inclusion,
    leaf_hash,
    node_hash,
    perfect,
)

# The leaves and roots that implementations of Certificate Transparency (RFC 6962) test themselves with.
LEAVES = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243")]
LEAVES += [bytes.fromhex(text) for text in ("5051525354555657", "606162636465666768696a6b6c6d6e6f")]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def naive(leaves: list[bytes]) -> bytes:
    """The root by the words of RFC 6962, 2.1."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return node_hash(naive(leaves[:half]), naive(leaves[half:]))


def subtrees_of(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    return lambda height, n: naive(leaves[n << height : (n + 1) << height])


@pytest.mark.parametrize("size", range(1, 9))
def test_the_published_roots_come_out(size: int) -> None:
    tree = Frontier()
    for line in LEAVES[:size]:
        tree.add(leaf_hash(line))

    assert (tree.size, tree.root().hex()) == (size, ROOTS[size - 1])


def test_the_root_over_nothing_is_the_hash_of_nothing() -> None:
    assert Frontier().root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_tree_falls_into_perfect_trees_from_left_to_right() -> None:
    assert list(perfect(13)) == [(3, 0), (2, 2), (0, 12)]
    assert list(perfect(0)) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 20, 31])
def test_a_tree_is_told_by_its_perfect_parts_and_grows_on(size: int) -> None:
    leaves = [leaf_hash(b"%d" % number) for number in range(size + 5)]
    tree = frontier(size, subtrees_of(leaves))
    roots = [tree.root()]
    for leaf in leaves[size:]:
        tree.add(leaf)
        roots.append(tree.root())

    assert roots == [naive(leaves[:end]) for end in range(size, size + 6)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21])
def test_every_leaf_is_proven_and_under_no_other_number(size: int) -> None:
    leaves = [leaf_hash(b"%d" % number) for number in range(size)]
    proofs = [inclusion(number, size, subtrees_of(leaves)) for number in range(size)]

    assert {included(leaves[n], n, size, proofs[n]) for n in range(size)} == {naive(leaves)}
    others = [included(leaves[n], m, size, proofs[n]) for n in range(size) for m in range(size) if m != n]
    assert naive(leaves) not in others


def test_a_proof_of_another_length_leads_nowhere() -> None:
    leaves = [leaf_hash(b"%d" % number) for number in range(5)]
    proof = inclusion(2, 5, subtrees_of(leaves))

    assert included(leaves[2], 2, 5, proof[:-1]) is None
    assert included(leaves[2], 2, 5, [*proof, proof[0]]) is None
    assert included(leaves[2], 5, 5, proof) is None
    assert included(leaves[2], -1, 5, proof) is None
