"""Connections of HTTP: how many, how long they may be silent, and that what is refused is refused in JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeAlias

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from app.mcp.jsonrpc import INVALID_REQUEST, error_line

JSON: Final = "application/json"
LINE_BYTES: Final = 8 * 1024
"""Of a request line and of each header."""

Respond: TypeAlias = Callable[[web.BaseRequest], Coroutine[Any, Any, web.StreamResponse]]


class Limits(NamedTuple):
    """How much, and how long, clients may keep the server at work."""

    body_bytes: int = 4 * 1024 * 1024
    body_seconds: float = 30.0
    idle_seconds: float = 60.0  # without a whole head, at the beginning and between requests
    json_seconds: float = 15.0  # then the answer becomes a stream
    keep_alive_seconds: float = 15.0
    calls_of_a_caller: int = 256
    calls: int = 1024
    connections: int = 1024
    sessions: int = 4096
    left_seconds: float = 300.0  # for a call of the older era whose client is gone
    drain_seconds: float = 5.0
    end_seconds: float = 3.0


LIMITS: Final = Limits()


class Refused(Exception):
    """A request that is answered before its message is: a status, a JSON-RPC error without an id, and headers."""

    def __init__(self, status: HTTPStatus, reason: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.response = web.Response(
            status=status,
            body=error_line(None, INVALID_REQUEST, message, {"reason": reason}),
            content_type=JSON,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )


class _Protocol(RequestHandler):
    """What cannot be read as HTTP is refused in JSON too, and without a stack trace in the log."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return super().handle_error(request, status, exc, message)
        response = Refused(
            HTTPStatus(status), "http", "This is no request of HTTP that is served here"
        ).response
        response.force_close()
        return response


class Connections(web.Server):
    """Makes a protocol for each connection; one too many is closed at once."""

    def __init__(self, handler: Respond, limits: Limits) -> None:
        super().__init__(handler, handler_cancellation=True)
        self._limits = limits

    def __call__(self) -> RequestHandler:
        return _Protocol(
            self,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=self._limits.idle_seconds,
            max_line_size=LINE_BYTES,
            max_field_size=LINE_BYTES,
            auto_decompress=False,
            lingering_time=1.0,
        )

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """A client has connected."""
        if len(self.connections) >= self._limits.connections:
            transport.abort()
        super().connection_made(handler, transport)
