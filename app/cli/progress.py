"""A progress bar on stderr, for long work and a person who watches it; anywhere else nothing is printed."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Final, Self

WIDTH: Final = 30
STEPS: Final = 200
"""How often the bar is drawn at most."""


class Progress:
    """`with Progress("verified", total) as progress: progress.add(amount)`."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = max(total, 1)
        self._done = 0
        self._drawn = -1
        self._is_watched = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn >= 0:
            sys.stderr.write("\r\x1b[K")

    def add(self, amount: int) -> None:
        """So much more is done."""
        self._done += amount
        step = min(self._done, self._total) * STEPS // self._total
        if self._is_watched and step != self._drawn:
            self._drawn = step
            filled = step * WIDTH // STEPS
            bar = "#" * filled + "." * (WIDTH - filled)
            sys.stderr.write(f"\r{self._what} [{bar}] {step * 100 // STEPS:3d} %")
            sys.stderr.flush()
