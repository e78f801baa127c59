"""One conversation on a shared channel: lines in, events out, both eras side by side.

Each request gets exactly one answer, unless it is cancelled: then nothing more is sent for its id. Nothing is ever
sent that was not asked for. Nothing raises for what a client sends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeAlias

import msgspec

from app.errors import RequestError
from app.mcp.catalog import Catalog, Identity, ToolFace
from app.mcp.era import is_stateless, negotiate, revision_of
from app.mcp.events import Call, Cancel, Event
from app.mcp.framing import fish_id
from app.mcp.jsonrpc import (
    INVALID_REQUEST,
    Array,
    Invalid,
    Message,
    Notification,
    Request,
    RequestId,
    Single,
    error_line,
    notification_line,
    read,
    refusal,
    result_line,
)
from app.mcp.params import call_params, cancelled_id, check_listen, refuse_cursor
from app.mcp.replies import Alone, Reply, Together
from app.mcp.revision import Revision
from app.mcp.revisions import load
from app.mcp.subscriptions import Subscriptions

MESSAGES_IN_AN_ARRAY: Final = 10_000
"""What a line of 4 MiB could hold would be answered with forty times its bytes."""

Method: TypeAlias = Callable[[Request, Revision, Reply], list[Event]]


class ToolOutcome(msgspec.Struct, frozen=True):
    """What a tool said: an encoded JSON object in one line, and whether it is an error of the call."""

    content: bytes
    is_error: bool


class _Open(msgspec.Struct):
    """A call that is owed an answer."""

    id: RequestId
    revision: Revision
    reply: Reply
    progress_token: RequestId | None
    progress: float = -math.inf


class Peer:
    """The server's side of one conversation; `offering` opens another one on the same catalog."""

    def __init__(self, server: Identity, tools: Sequence[ToolFace]) -> None:
        self._begin(Catalog(server, tools, load()), None)

    @classmethod
    def offering(cls, catalog: Catalog, negotiated: str | None = None) -> Peer:
        """A conversation about a catalog that others share, as if `initialize` had settled on `negotiated`."""
        peer = cls.__new__(cls)
        peer._begin(catalog, None if negotiated is None else catalog.revisions[negotiated])
        return peer

    def _begin(self, catalog: Catalog, negotiated: Revision | None) -> None:
        self._catalog = catalog
        self._negotiated = negotiated
        self._alone = Alone()
        self._keys = count(1)
        self._open: dict[int, _Open] = {}
        self._calls: dict[RequestId, int] = {}
        self._subscriptions = Subscriptions()
        self._methods: Mapping[str, Method] = {
            "initialize": self._initialize,
            "ping": self._ping,
            "server/discover": self._discover,
            "tools/list": self._list,
            "tools/call": self._call,
            "subscriptions/listen": self._listen,
        }

    @property
    def catalog(self) -> Catalog:
        """What this conversation offers."""
        return self._catalog

    @property
    def negotiated(self) -> str | None:
        """The revision that `initialize` settled on, if it was called."""
        return None if self._negotiated is None else self._negotiated.version

    @property
    def in_flight(self) -> int:
        """How many calls are owed an answer."""
        return len(self._open)

    def receive(self, line: bytes) -> list[Event]:
        """Take one line, without its end."""
        return self.accept(read(line))

    def accept(self, message: Message) -> list[Event]:
        """Take one message that was read before."""
        if isinstance(message, Array):
            return self._array(message)
        return self._single(message, self._alone)

    def oversize(self, excerpt: bytes) -> list[Event]:
        """Answer a line that was too long to be read, with its id where the excerpt shows it."""
        invalid = Invalid(fish_id(excerpt), INVALID_REQUEST, "A line has at most 4 MiB")
        return self._single(invalid, self._alone)

    def finish(self, call: Call, outcome: ToolOutcome) -> list[Event]:
        """The call is done; empty if it was cancelled before, because then nobody may hear of it."""
        open_ = self._settle(call)
        if open_ is None:
            return []
        body = self._catalog.called(open_.revision, outcome.content, is_error=outcome.is_error)
        return open_.reply.add(result_line(open_.id, body))

    def fail(self, call: Call, error: RequestError) -> list[Event]:
        """The call cannot be served after all; empty if it was cancelled before."""
        open_ = self._settle(call)
        if open_ is None:
            return []
        return open_.reply.add(error_line(open_.id, error.code, error.message, error.data), error.code)

    def progress(
        self, call: Call, message: str | None, progress: float, total: float | None = None
    ) -> list[Event]:
        """Tell how far the call is: only if it asked, is still open, and the number grew."""
        open_ = self._open.get(call.key)
        if open_ is None or open_.progress_token is None or not open_.progress < progress < math.inf:
            return []
        open_.progress = progress
        params: dict[str, Any] = {"progressToken": open_.progress_token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None and open_.revision.progress_messages:
            params["message"] = message
        return self._alone.add(notification_line("notifications/progress", params))

    def cancel(self, request_id: RequestId) -> list[Event]:
        """Nobody waits for this request any more; what is unknown or answered is ignored."""
        self._subscriptions.discard(request_id)
        key = self._calls.pop(request_id, None)
        if key is None:
            return []
        return [Cancel(key), *self._open.pop(key).reply.drop()]

    @property
    def is_open(self) -> bool:
        """Whether anything is still to be said: an answer, or the end of a subscription."""
        return bool(self._open) or bool(self._subscriptions)

    def close(self, *, shared: bool = True) -> list[bytes]:
        """The lines that end the subscriptions: a result for each, and on a shared channel the cancellation too."""
        return self._subscriptions.end(self._catalog.server_meta, shared=shared)

    def _array(self, array: Array) -> list[Event]:
        if self._negotiated is None or not self._negotiated.batches:
            return self._single(Invalid(None, INVALID_REQUEST, "Batches are not supported"), self._alone)
        if len(array.messages) > MESSAGES_IN_AN_ARRAY:
            refused = Invalid(None, INVALID_REQUEST, f"A batch has at most {MESSAGES_IN_AN_ARRAY} messages")
            return self._single(refused, self._alone)
        if not array.messages:
            return self._single(Invalid(None, INVALID_REQUEST, "A batch must not be empty"), self._alone)
        reply = Together(sum(isinstance(message, Request | Invalid) for message in array.messages))
        return [event for message in array.messages for event in self._single(_batched(message), reply)]

    def _single(self, message: Single, reply: Reply) -> list[Event]:
        if isinstance(message, Request):
            return self._request(message, reply)
        if isinstance(message, Invalid):
            return reply.add(error_line(message.id, message.code, message.message), message.code)
        if isinstance(message, Notification) and message.method == "notifications/cancelled":
            id_ = cancelled_id(message.params)
            return [] if id_ is None else self.cancel(id_)
        return []

    def _request(self, request: Request, reply: Reply) -> list[Event]:
        try:
            self._refuse_id_in_use(request.id)
            revision = revision_of(request, self._negotiated, self._catalog.revisions)
            return self._methods[request.method](request, revision, reply)
        except RequestError as error:
            return reply.add(refusal(request, error), error.code)

    def _refuse_id_in_use(self, id_: RequestId) -> None:
        if id_ in self._calls or id_ in self._subscriptions:
            raise RequestError(INVALID_REQUEST, "A request with this id is still in flight")

    def _initialize(self, request: Request, _revision: Revision, reply: Reply) -> list[Event]:
        revision = negotiate(request.params.get("protocolVersion"), self._catalog.revisions)
        self._negotiated = revision
        return reply.add(result_line(request.id, self._catalog.initialized(revision)))

    def _ping(self, request: Request, _revision: Revision, reply: Reply) -> list[Event]:
        return reply.add(result_line(request.id, b"{}"))

    def _discover(self, request: Request, revision: Revision, reply: Reply) -> list[Event]:
        return reply.add(result_line(request.id, self._catalog.discovered(revision)))

    def _list(self, request: Request, revision: Revision, reply: Reply) -> list[Event]:
        refuse_cursor(request)
        return reply.add(result_line(request.id, self._catalog.listed(revision)))

    def _call(self, request: Request, revision: Revision, reply: Reply) -> list[Event]:
        params = call_params(request)
        face = self._catalog.find(params.name)
        key = next(self._keys)
        self._calls[request.id] = key
        self._open[key] = _Open(request.id, revision, reply, params.progress_token)
        return [
            Call(
                key,
                request.id,
                face.name,
                params.arguments,
                params.progress_token is not None,
                revision.version,
                params.trace,
                params.trace_state,
                params.baggage,
            )
        ]

    def _listen(self, request: Request, _revision: Revision, reply: Reply) -> list[Event]:
        check_listen(request)
        return reply.add(self._subscriptions.begin(request.id))

    def _settle(self, call: Call) -> _Open | None:
        open_ = self._open.pop(call.key, None)
        if open_ is not None:
            del self._calls[open_.id]
        return open_


def _batched(message: Single) -> Single:
    """What may not stand in an array is refused alone; the others are served."""
    if isinstance(message, Request) and (message.method == "initialize" or is_stateless(message)):
        return Invalid(message.id, INVALID_REQUEST, "This request must not be part of a batch")
    return message
