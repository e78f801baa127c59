"""Work of the processor beside the event loop, so that a large body of a stranger holds up nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def aside(work: Callable[..., T], *arguments: Any) -> T:
    """What `work` returns or raises, from a thread of its own.

    The thread is a daemon and not one of the loop's executor: those are waited for when the process ends.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work(*arguments)
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits
            _tell(loop, outcome, outcome.set_exception, error)
        else:
            _tell(loop, outcome, outcome.set_result, result)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await outcome


def _tell(
    loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[T], settle: Callable[[Any], None], value: Any
) -> None:
    def settled() -> None:
        if not outcome.done():
            settle(value)

    try:
        loop.call_soon_threadsafe(settled)
    except RuntimeError:  # the loop is closed: nobody waits any more
        return
