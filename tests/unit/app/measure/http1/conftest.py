"""A stream that plays back pieces, and a clock that only the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from app.errors import ProbeFailed
from app.measure.http1.answer import Answer
from app.measure.http1.exchange import Exchange
from app.measure.http1.headers import Request
from app.net.phases import Phases
from policy import parse_url


class SteppedClock:
    """One millisecond passes with each question."""

    def __init__(self) -> None:
        self._now_ns = 0

    def wall_ns(self) -> int:
        return self.monotonic_ns()

    def boottime_ns(self) -> int:
        return self.monotonic_ns()

    def sync(self) -> tuple[bool | None, int | None]:
        return None, None

    def monotonic_ns(self) -> int:
        self._now_ns += 1_000_000
        return self._now_ns


class PlayedStream:
    """A `Stream` that yields each piece once, then its end: closed, or the failure given."""

    def __init__(self, pieces: Sequence[bytes], clock: SteppedClock, end: ProbeFailed | None = None) -> None:
        self.sent = bytearray()
        self.bytes_sent = 0
        self.bytes_received = 0
        self.received_ns = 0
        self.receive_clock: Literal["kernel", "user"] = "user"
        self.late_ns = 0
        self.ended_by_peer: Literal["fin", "reset", "close_notify"] | None = None
        self._pieces = list(pieces)
        self._clock = clock
        self._end = end

    async def send(self, data: bytes) -> None:
        self.sent += data

    async def receive(self) -> bytes:
        self.received_ns = self._clock.monotonic_ns()
        if self._pieces:
            return self._pieces.pop(0)
        if self._end is not None:
            raise self._end
        return b""

    def pending(self) -> bytes:
        rest, self._pieces = b"".join(self._pieces), []
        return rest

    def close(self) -> None:
        self._pieces = []

    def tcp_info(self) -> dict[str, int] | None:
        return None


@dataclass
class Played:
    """What came of one exchange over a played stream."""

    answer: Answer
    failed: ProbeFailed | None
    timings: dict[str, float | None]
    sent: bytes
    turns: int
    """How often another coroutine of the loop ran meanwhile."""

    @property
    def body(self) -> bytes:
        return bytes(self.answer.body.copy) if self.answer.body else b""

    @property
    def failure(self) -> tuple[str, str] | None:
        return None if self.failed is None else (self.failed.phase, self.failed.code)


Play = Callable[..., Played]


@pytest.fixture
def play() -> Play:
    """`play(*pieces)` runs one exchange whose answer comes in these pieces."""

    def run(
        *pieces: bytes,
        method: str = "GET",
        body: bytes | None = None,
        end: ProbeFailed | None = None,
        read_limit: int = 1_000_000,
        room: int = 1000,
        follows: bool = False,
    ) -> Played:
        clock = SteppedClock()
        stream, phases = PlayedStream(pieces, clock, end), Phases(clock)
        answer = Answer(read_limit, room, follows=follows)
        failed = None
        exchange = Exchange(Request(method, parse_url("http://127.0.0.1/"), body=body), answer)
        turns = 0

        async def share() -> None:
            nonlocal turns
            running = asyncio.ensure_future(exchange.run(stream, phases))
            while not running.done():
                await asyncio.sleep(0)
                turns += 1
            await running

        try:
            asyncio.run(share())
        except ProbeFailed as error:
            failed = error
        phases.finish()
        return Played(answer, failed, phases.timings(), bytes(stream.sent), turns)

    return run
