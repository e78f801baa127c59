"""Merkle trees (RFC 6962, section 2.1): leaves in, roots and proofs out.

A tree of any size is told by the roots of the perfect trees that it falls into, from left to right, at most one of
each height: that is all one has to keep to let it grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = sha256().digest()

Subtree = Callable[[int, int], bytes]
"""The root of the perfect tree of 2**height leaves that is the n-th of its height: `subtree(height, n)`."""


def leaf_hash(line: bytes) -> bytes:
    """The leaf of one line."""
    return sha256(b"\0" + line).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """What two neighbours make together."""
    return sha256(b"\1" + left + right).digest()


class Frontier:
    """A tree that grows by leaves; `size` is how many it has."""

    def __init__(self, size: int = 0, roots: Sequence[bytes] = ()) -> None:
        """`roots` are those of `perfect(size)`, from left to right."""
        self.size = size
        self._roots = list(roots)

    def add(self, leaf: bytes) -> None:
        """Put a leaf behind the others."""
        size = self.size
        while size & 1:
            leaf = node_hash(self._roots.pop(), leaf)
            size >>= 1
        self._roots.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root over all leaves."""
        roots = self._roots
        if not roots:
            return EMPTY_ROOT
        root = roots[-1]
        for left in reversed(roots[:-1]):
            root = node_hash(left, root)
        return root


def perfect(size: int) -> Iterator[tuple[int, int]]:
    """The perfect trees that a tree falls into, from left to right, each as `(height, n)`."""
    begin = 0
    for height in range(size.bit_length() - 1, -1, -1):
        if size >> height & 1:
            yield height, begin >> height
            begin += 1 << height


def frontier(size: int, subtree: Subtree) -> Frontier:
    """The tree of `size` leaves whose perfect parts are known."""
    return Frontier(size, [subtree(height, n) for height, n in perfect(size)])


def inclusion(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """The proof that leaf `index` is in the tree of `size` leaves (RFC 6962, 2.1.1), from the leaf upwards."""
    return _path(index, 0, size, subtree)


def included(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that a proof leads to, or None for a proof of another length (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    number, last, root = index, size - 1, leaf
    for other in proof:
        if last == 0:
            return None
        if number & 1 or number == last:
            root = node_hash(other, root)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            root = node_hash(root, other)
        number, last = number >> 1, last >> 1
    return root if last == 0 else None


def _path(index: int, begin: int, end: int, subtree: Subtree) -> list[bytes]:
    if end - begin == 1:
        return []
    middle = begin + _half(end - begin)
    if index < middle:
        return [*_path(index, begin, middle, subtree), _root(middle, end, subtree)]
    return [*_path(index, middle, end, subtree), _root(begin, middle, subtree)]


def _root(begin: int, end: int, subtree: Subtree) -> bytes:
    """The root over the leaves [begin, end), of which all but the last part is perfect."""
    size = end - begin
    if size & (size - 1) == 0:
        height = size.bit_length() - 1
        return subtree(height, begin >> height)
    middle = begin + _half(size)
    return node_hash(_root(begin, middle, subtree), _root(middle, end, subtree))


def _half(size: int) -> int:
    """The greatest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
