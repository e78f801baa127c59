"""What one POST leads to: its conversation, and the response, which is JSON or a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol, TypeAlias

from aiohttp import web

from app.mcp import streamable
from app.mcp.events import Send
from app.mcp.jsonrpc import Message, RequestId
from app.transport.access import Caller
from app.transport.connections import JSON, Limits

STREAM: Final = "text/event-stream"
_FOREVER: Final = 24 * 3600.0
"""The call ends before by its own deadline, or the server does."""


class Conversation(Protocol):
    """One message and what it leads to, as the dispatcher offers it; it answers by the function it was made with."""

    @property
    def is_open(self) -> bool: ...

    def accept(self, message: Message, size: int) -> None: ...

    def cancel(self, request_id: RequestId) -> None: ...

    async def drain(self, seconds: float) -> None: ...

    def close(self, *, shared: bool = True) -> None: ...


Converse: TypeAlias = Callable[[str | None, Caller | None, Callable[[Send], None]], Conversation]
"""`converse(negotiated, caller, send)` begins a conversation in a revision of the older era, or in none."""


class Exchange:
    """One POST: its conversation, and what that has said and nobody has sent yet."""

    def __init__(self, converse: Converse, negotiated: str | None, caller: Caller | None) -> None:
        self._said: asyncio.Queue[Send | None] = asyncio.Queue()
        self.conversation = converse(negotiated, caller, self._said.put_nowait)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said than what waits."""
        return not self.conversation.is_open

    async def next(self, seconds: float) -> Send | None:
        """What is said next; None where nothing more comes. TimeoutError."""
        if self.is_over and self._said.empty():
            return None
        return await asyncio.wait_for(self._said.get(), seconds)

    def cancel(self, request_id: RequestId) -> None:
        """Stop one request; whoever waits for nothing else now is woken."""
        self.conversation.cancel(request_id)
        if self.is_over:
            self._said.put_nowait(None)

    async def respond(
        self, request: web.BaseRequest, route: streamable.Route, formats: tuple[str, ...], limits: Limits
    ) -> tuple[web.StreamResponse, Send | None]:
        """The response, and what it says where that is one thing alone."""
        try:
            first = await self.next(limits.json_seconds if STREAM in formats else _FOREVER)
        except TimeoutError:
            return await self._stream(request, None, limits), None
        if first is None:
            return web.Response(status=HTTPStatus.ACCEPTED), None
        if self.is_over and JSON in formats:
            return _json(first, route), first
        if STREAM in formats:
            return await self._stream(request, first, limits), None
        return _json(await self._last(first), route), None

    async def _last(self, said: Send) -> Send:
        """The answer alone, for a client that takes no stream: progress before it is left out."""
        while (more := await self.next(_FOREVER)) is not None:
            said = more
        return said

    async def _stream(
        self, request: web.BaseRequest, said: Send | None, limits: Limits
    ) -> web.StreamResponse:
        """Events until the answer, and comments while there are none."""
        response = web.StreamResponse(
            headers={"Content-Type": STREAM, "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        )
        await response.prepare(request)
        if said is not None:
            await response.write(streamable.event(said.line))
        while True:
            try:
                said = await self.next(limits.keep_alive_seconds)
            except TimeoutError:
                await response.write(b": still at work\n\n")
                continue
            if said is None:
                await response.write_eof()
                return response
            await response.write(streamable.event(said.line))


def formats(headers: streamable.Headers) -> tuple[str, ...]:
    """What the client takes, of what an answer can be."""
    values = headers.get("accept", ())
    return tuple(kind for kind in (JSON, STREAM) if streamable.accepts(values, kind))


def _json(said: Send, route: streamable.Route) -> web.Response:
    return web.Response(status=streamable.status(said.code, route), body=said.line, content_type=JSON)
