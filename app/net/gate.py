"""How many measurements run at once: a further one waits for room until its own deadline."""

from __future__ import annotations

import asyncio

from app.clock import Clock
from app.errors import ToolError


class Gate:
    """Room for `most` at once, first come, first served; 0 means that there is always room."""

    def __init__(self, most: int, clock: Clock) -> None:
        self.most = most
        self._clock = clock
        self._room = asyncio.Semaphore(most) if most else None

    def slot(self, deadline_ns: int) -> Slot:
        """Room for one measurement; `busy` when there is none until the (monotonic) deadline."""
        return Slot(self, deadline_ns)

    async def enter(self, deadline_ns: int) -> None:
        """Take room, or wait for it until the deadline."""
        if self._room is None:
            return
        if not self._room.locked():
            await self._room.acquire()  # at once: nobody waits
            return
        left_s = (deadline_ns - self._clock.monotonic_ns()) / 1_000_000_000
        try:
            async with asyncio.timeout(left_s):
                await self._room.acquire()
        except TimeoutError:
            message = f"{self.most} measurements are running, and none ended before the deadline of this one"
            raise ToolError("busy", message) from None

    def leave(self) -> None:
        """Give the room back."""
        if self._room is not None:
            self._room.release()


class Slot:
    """Room in a gate for the length of an `async with`; a class, because a generator costs more than the gate."""

    def __init__(self, gate: Gate, deadline_ns: int) -> None:
        self._gate = gate
        self._deadline_ns = deadline_ns

    async def __aenter__(self) -> None:
        await self._gate.enter(self._deadline_ns)

    async def __aexit__(self, *_: object) -> None:
        self._gate.leave()
