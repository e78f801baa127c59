"""The arrival curve of one answer: when how many bytes came, in bounded memory."""

from __future__ import annotations

MOST = 512
"""Points of a curve; a longer one is thinned, so that its sum stays exact and its steps grow."""


class Arrivals:
    """Reads in the order of their arrival; at `most` of them neighbours become one, with the later time."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._reads: list[tuple[int, int]] = []

    def add(self, at_ns: int, size: int) -> None:
        """Note a read of `size` bytes that had arrived at `at_ns` (monotonic)."""
        self._reads.append((at_ns, size))
        if len(self._reads) >= self._most:
            reads = self._reads
            pairs = zip(reads[::2], reads[1::2], strict=False)
            self._reads = [(later, one + other) for (_, one), (later, other) in pairs] + reads[
                len(reads) // 2 * 2 :
            ]

    def curve(self, start_ns: int) -> list[list[float]]:
        """`[[ms, bytes], …]`, milliseconds from `start_ns` with three decimals."""
        return [[(at_ns - start_ns) // 1000 / 1000, size] for at_ns, size in self._reads]
