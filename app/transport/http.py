"""MCP over Streamable HTTP: one POST a message, both eras in one process, JSON or a stream of events for an answer.

Rules: who may call is judged before the body is read. The body says the era. A stateless request whose connection
is lost is cancelled; one of the older era is not, and ends by itself. An answer is JSON unless progress comes first
or it takes long: then a stream keeps the connection alive. Nothing a client sends raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeGuard

from aiohttp import web

from app.errors import RequestError
from app.mcp import streamable
from app.mcp.era import is_stateless, negotiate
from app.mcp.jsonrpc import Array, Invalid, Message, Notification, Request, error_line, read, refusal
from app.mcp.params import cancelled_id
from app.mcp.revision import Revision
from app.transport.access import Caller, Gate, Tokens
from app.transport.connections import JSON, LIMITS, Connections, Limits, Refused
from app.transport.exchange import STREAM, Converse, Exchange, formats
from app.transport.sessions import NAME, Session, Sessions

PATHS: Final = frozenset({"/mcp", "/mcp/"})


class Server:
    """The endpoint; `listen` it on sockets, and `close` it in the end."""

    def __init__(
        self,
        converse: Converse,
        revisions: Mapping[str, Revision],
        gate: Gate,
        tokens: Callable[[], Tokens | None],
        limits: Limits = LIMITS,
    ) -> None:
        self._converse = converse
        self._revisions = revisions
        self._gate = gate
        self._tokens = tokens
        self._limits = limits
        self._sessions = Sessions(limits.sessions)
        self._exchanges: set[Exchange] = set()
        self._calls: dict[str | None, int] = {}
        self._left: dict[asyncio.Task[None], Exchange] = {}
        self._closing = False
        self._connections = Connections(self._respond, limits)
        self._listening: list[asyncio.Server] = []

    async def listen(self, sockets: Sequence[Any], ssl: Any = None) -> None:
        """Serve on sockets that are bound."""
        loop = asyncio.get_running_loop()
        for each in sockets:
            self._listening.append(
                await loop.create_server(self._connections, sock=each, ssl=ssl, backlog=1024)
            )

    async def close(self) -> None:
        """Take nothing more, let calls end for a while, end the streams in order, close the connections."""
        self._closing = True
        for listening in self._listening:
            listening.close()
        exchanges = {*self._exchanges, *self._left.values()}
        for exchange in exchanges:
            exchange.conversation.close(shared=False)
        await asyncio.gather(
            *(exchange.conversation.drain(self._limits.drain_seconds) for exchange in exchanges)
        )
        if self._left:
            await asyncio.wait(self._left, timeout=self._limits.end_seconds)
        self._connections.pre_shutdown()
        await self._connections.shutdown(self._limits.end_seconds)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._guarded(request)
        except Refused as refused:
            return refused.response

    async def _guarded(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = _headers(request)
        self._check_address(request, headers)
        if request.path not in PATHS:
            raise Refused(HTTPStatus.NOT_FOUND, "not_found", "The endpoint is /mcp")
        caller = self._caller(headers)
        if request.method == "DELETE" and "mcp-session-id" in headers:
            self._sessions.end(headers["mcp-session-id"], _name(caller))
            return web.Response(status=HTTPStatus.NO_CONTENT)
        if request.method != "POST":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "method", "Only POST is served here", Allow="POST")
        if self._closing:
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "closing", "The server is going away", Retry_After="1"
            )
        _check_form(headers)
        body = await self._body(request)
        return await self._serve(request, headers, caller, read(body), len(body))

    def _check_address(self, request: web.BaseRequest, headers: streamable.Headers) -> None:
        hosts = headers.get("host", ())
        asked = request.url.raw_authority if request.raw_path.startswith(("http://", "https://")) else None
        if not self._gate.admits_host(hosts) or (asked is not None and asked != hosts[0]):
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "host", "This server is not addressed by that Host")
        if not self._gate.admits_origin(headers.get("origin", ())):
            raise Refused(HTTPStatus.FORBIDDEN, "origin", "Pages of that Origin may not ask")

    def _caller(self, headers: streamable.Headers) -> Caller | None:
        tokens = self._tokens()
        if tokens is None:
            return None
        caller = tokens.caller(headers.get("authorization", ()))
        if caller is None:
            told = 'Bearer realm="facts-mcp"' + (
                ', error="invalid_token"' if "authorization" in headers else ""
            )
            raise Refused(HTTPStatus.UNAUTHORIZED, "token", "A bearer token is needed", WWW_Authenticate=told)
        return caller

    async def _body(self, request: web.BaseRequest) -> bytes:
        """The whole body; Refused where it is too long or takes too long."""
        limit = self._limits.body_bytes
        pieces: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while piece := await request.content.readany():
                    size += len(piece)
                    if size > limit:
                        raise Refused(
                            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                            "body_too_large",
                            f"A message has at most {limit} bytes",
                            Connection="close",
                        )
                    pieces.append(piece)
        except TimeoutError:
            raise Refused(
                HTTPStatus.REQUEST_TIMEOUT, "body_too_slow", "The body took too long", Connection="close"
            ) from None
        return b"".join(pieces)

    async def _serve(
        self,
        request: web.BaseRequest,
        headers: streamable.Headers,
        caller: Caller | None,
        message: Message,
        size: int,
    ) -> web.StreamResponse:
        named = "mcp-session-id" in headers and not (isinstance(message, Request) and is_stateless(message))
        session = self._sessions.find(headers["mcp-session-id"], _name(caller)) if named else None
        try:
            route = streamable.route(message, headers, session.version if session else None, self._revisions)
        except RequestError as error:
            return _refusal(message, error)
        if isinstance(message, Notification) and message.method == "notifications/cancelled" and session:
            id_ = cancelled_id(message.params)
            if id_ is not None:
                session.cancel(id_)
        if not isinstance(message, Request | Invalid | Array):
            return web.Response(status=HTTPStatus.ACCEPTED)
        exchange = Exchange(self._converse, route.negotiated, caller)
        self._begin(exchange, session, caller)
        try:
            exchange.conversation.accept(message, size)
            response, said = await exchange.respond(request, route, formats(headers), self._limits)
        except (asyncio.CancelledError, ConnectionError):  # the client is gone
            self._leave(exchange, session, caller, 0 if route.modern else self._limits.left_seconds)
            raise
        except BaseException:
            self._end(exchange, session, caller)
            raise
        self._end(exchange, session, caller)
        if _is_hello(message, route) and said is not None and said.code is None:
            version = negotiate(message.params.get("protocolVersion"), self._revisions).version
            response.headers[NAME] = self._sessions.open(version, _name(caller))
        return response

    def _begin(self, exchange: Exchange, session: Session | None, caller: Caller | None) -> None:
        name = _name(caller)
        mine = self._calls.get(name, 0)
        if mine >= self._limits.calls_of_a_caller or len(self._exchanges) >= self._limits.calls:
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too_many_requests",
                f"{mine} requests are in flight",
                Retry_After="1",
            )
        self._calls[name] = mine + 1
        self._exchanges.add(exchange)
        if session is not None:
            session.exchanges.add(exchange)

    def _end(self, exchange: Exchange, session: Session | None, caller: Caller | None) -> None:
        name = _name(caller)
        self._calls[name] -= 1
        if not self._calls[name]:
            del self._calls[name]
        self._exchanges.discard(exchange)
        if session is not None:
            session.exchanges.discard(exchange)

    def _leave(
        self, exchange: Exchange, session: Session | None, caller: Caller | None, seconds: float
    ) -> None:
        """Nobody hears the answer any more; what runs ends by itself, or after `seconds`, and counts until then."""

        def ended(task: asyncio.Task[None]) -> None:
            del self._left[task]
            self._end(exchange, session, caller)

        task = asyncio.get_running_loop().create_task(exchange.conversation.drain(seconds))
        self._left[task] = exchange
        task.add_done_callback(ended)


def _check_form(headers: streamable.Headers) -> None:
    if not streamable.is_json(headers.get("content-type", ())):
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "Content-Type has to be application/json in UTF-8",
        )
    if any(value.strip().lower() != "identity" for value in headers.get("content-encoding", ())):
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content_encoding", "The body must not be encoded")
    if not formats(headers):
        raise Refused(HTTPStatus.NOT_ACCEPTABLE, "accept", f"Accept has to admit {JSON} or {STREAM}")


def _is_hello(message: Message, route: streamable.Route) -> TypeGuard[Request]:
    return isinstance(message, Request) and message.method == "initialize" and not route.modern


def _refusal(message: Message, error: RequestError) -> web.Response:
    if isinstance(message, Request):
        line = refusal(message, error)
    else:
        line = error_line(None, error.code, error.message, error.data)
    return web.Response(status=HTTPStatus.BAD_REQUEST, body=line, content_type=JSON)


def _headers(request: web.BaseRequest) -> streamable.Headers:
    found: dict[str, list[str]] = {}
    for name, value in request.headers.items():
        found.setdefault(name.lower(), []).append(value)
    return found


def _name(caller: Caller | None) -> str | None:
    return caller.name if caller else None
