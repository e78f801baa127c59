"""One POST: what its conversation says, in the order in which it is said, until nothing more comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.main import Application
from app.mcp.events import Send
from app.mcp.jsonrpc import Request
from app.settings import Settings
from app.transport.exchange import Exchange, formats


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    made = Application(Settings.model_validate({"PLINTH_DATA_DIR": str(tmp_path / "data")}))
    yield made
    made.close()


def begun(application: Application) -> Exchange:
    return Exchange(application._converse(), "2025-11-25", None)


def measuring(target: Any) -> Request:
    arguments = {"project": "p", "url": target.url}
    return Request("a", "tools/call", {"name": "facts_measure_http", "arguments": arguments})


def test_what_is_said_comes_and_then_nothing(application: Application) -> None:
    async def run() -> list[Send | None]:
        one = begun(application)
        one.conversation.accept(Request(1, "ping", {}), 0)
        one.conversation.accept(Request(2, "ping", {}), 0)
        return [await one.next(1) for _ in range(3)]

    assert asyncio.run(run()) == [
        Send(b'{"jsonrpc":"2.0","id":1,"result":{}}'),
        Send(b'{"jsonrpc":"2.0","id":2,"result":{}}'),
        None,
    ]


def test_silence_is_a_timeout_while_more_is_to_come(application: Application, byte_server: Any) -> None:
    async def run() -> bool:
        one = begun(application)
        one.conversation.accept(measuring(byte_server(["hang"])), 0)
        with pytest.raises(TimeoutError):
            await one.next(0.01)
        is_over = one.is_over
        await one.conversation.drain(0)
        return is_over

    assert asyncio.run(run()) is False


def test_a_cancelled_request_wakes_whoever_waits_for_nothing_else(
    application: Application, byte_server: Any
) -> None:
    async def run() -> Send | None:
        one = begun(application)
        one.conversation.accept(measuring(byte_server(["hang"])), 0)
        waiting = asyncio.ensure_future(one.next(10))
        one.cancel("a")
        said = await waiting
        await one.conversation.drain(0)
        return said

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
