"""An append on its way: from the event loop that waits for it to the writer's thread, and back with its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from app.errors import FactsError, StoreError
from app.store.log import Guard, LogName, Stored


class Pending:
    """One line that waits to become durable."""

    __slots__ = ("future", "guard", "log", "loop", "outcome", "prefix", "project", "tail")

    def __init__(
        self,
        project: str,
        log: LogName,
        prefix: str,
        tail: bytes,
        loop: asyncio.AbstractEventLoop,
        guard: Guard | None = None,
    ) -> None:
        self.project = project
        self.log = log
        self.prefix = prefix
        self.tail = tail
        self.loop = loop
        self.guard = guard
        self.future: asyncio.Future[Stored] = loop.create_future()
        self.outcome: Stored | FactsError | None = None


def fail(waiting: Iterable[Pending], error: StoreError) -> None:
    """Give each its own error: one exception raised in many tasks would mix up their tracebacks."""
    for pending in waiting:
        pending.outcome = StoreError(error.reason, error.message)


def settle(waiting: Sequence[Pending]) -> None:
    """Wake those who wait, once a loop whatever their number: each wake-up is a system call."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Pending]] = {}
    for pending in waiting:
        by_loop.setdefault(pending.loop, []).append(pending)
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, theirs)
        except RuntimeError:
            if not loop.is_closed():  # with its loop went whoever waited
                raise


def refuse(waiting: Sequence[Pending], error: StoreError) -> None:
    """Wake with this error those who still wait, while the writer may be at work on their lines.

    Their outcomes stay the writer's: one that it sets in this moment may not be durable, and must not be seen.
    """
    for pending in waiting:
        try:
            pending.loop.call_soon_threadsafe(_refuse, pending.future, error)
        except RuntimeError:
            if not pending.loop.is_closed():
                raise


def _refuse(future: asyncio.Future[Stored], error: StoreError) -> None:
    if not future.done():
        future.set_exception(StoreError(error.reason, error.message))


def _resolve(settled: list[Pending]) -> None:
    for pending in settled:
        outcome = pending.outcome
        if pending.future.done():
            continue  # the caller was cancelled
        if isinstance(outcome, Stored):
            pending.future.set_result(outcome)
        else:
            pending.future.set_exception(outcome or StoreError("closed", "the writer has ended"))
