"""One POST: what its conversation says, in the order in which it is said, until nothing more comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from app.mcp.events import Send
from app.mcp.jsonrpc import Message, RequestId
from app.transport.exchange import Exchange, formats


class Scripted:
    """A conversation that says what it is told to."""

    def __init__(self, say: Callable[[Send], None]) -> None:
        self.say = say
        self.is_open = True

    def accept(self, message: Message, size: int) -> None:
        raise NotImplementedError

    def cancel(self, request_id: RequestId) -> None:
        self.is_open = False

    async def drain(self, seconds: float) -> None:
        raise NotImplementedError

    def close(self, *, shared: bool = True) -> None:
        raise NotImplementedError


def exchange() -> tuple[Exchange, Scripted]:
    made: list[Scripted] = []

    def converse(_negotiated: str | None, _caller: object, say: Callable[[Send], None]) -> Scripted:
        made.append(Scripted(say))
        return made[0]

    return Exchange(converse, None, None), made[0]


def test_what_is_said_comes_in_order_and_then_nothing() -> None:
    async def run() -> list[Send | None]:
        one, conversation = exchange()
        conversation.say(Send(b"a"))
        conversation.say(Send(b"b"))
        conversation.is_open = False
        return [await one.next(1) for _ in range(3)]

    assert asyncio.run(run()) == [Send(b"a"), Send(b"b"), None]


def test_silence_is_a_timeout_while_more_is_to_come() -> None:
    async def run() -> None:
        one, _conversation = exchange()
        await one.next(0.01)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_a_cancelled_request_wakes_whoever_waits_for_nothing_else() -> None:
    async def run() -> Send | None:
        one, _conversation = exchange()
        waiting = asyncio.ensure_future(one.next(10))
        await asyncio.sleep(0)
        one.cancel(1)
        return await waiting

    assert asyncio.run(run()) is None


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([], ("application/json", "text/event-stream")),
        (["text/event-stream"], ("text/event-stream",)),
        (["text/plain"], ()),
    ],
)
def test_the_formats_are_those_that_the_client_takes(values: list[str], found: tuple[str, ...]) -> None:
    assert formats({"accept": values} if values else {}) == found
