"""The parameters of the methods, parsed once; what is malformed is refused with -32602 before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from app.errors import RequestError
from app.mcp.era import meta_of
from app.mcp.jsonrpc import INVALID_PARAMS, Request, RequestId

# The longest that W3C Baggage obliges anybody to carry; longer texts are left out.
TRACE_TEXT_AT_MOST: Final = 8192


class CallParams(msgspec.Struct, frozen=True):
    """What `tools/call` asks for; `name` as the client wrote it."""

    name: str
    arguments: dict[str, Any]
    progress_token: RequestId | None
    trace: str | None
    trace_state: str | None
    baggage: str | None


def call_params(request: Request) -> CallParams:
    """The parameters of `tools/call`; missing arguments are none. What we do not know is ignored."""
    name = request.params.get("name")
    if not isinstance(name, str):
        raise RequestError(INVALID_PARAMS, "params.name must be a string")
    arguments = request.params.get("arguments")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise RequestError(INVALID_PARAMS, "params.arguments must be an object")
    meta = meta_of(request)
    return CallParams(
        name,
        arguments,
        _progress_token(meta),
        _text(meta, "traceparent"),
        _text(meta, "tracestate"),
        _text(meta, "baggage"),
    )


def refuse_cursor(request: Request) -> None:
    """Lists have one page, so no cursor was ever given out: each is invalid."""
    if request.params.get("cursor") is not None:
        raise RequestError(INVALID_PARAMS, "Invalid cursor")


def check_listen(request: Request) -> None:
    """`subscriptions/listen` must say what it wants to hear, though there is nothing to be heard here."""
    if not isinstance(request.params.get("notifications"), dict):
        raise RequestError(INVALID_PARAMS, "params.notifications must be an object")


def cancelled_id(params: Mapping[str, Any]) -> RequestId | None:
    """The request that `notifications/cancelled` names; None when it names none."""
    id_ = params.get("requestId")
    return id_ if type(id_) is int or type(id_) is str else None


def _progress_token(meta: Mapping[str, Any]) -> RequestId | None:
    token = meta.get("progressToken")
    if token is None or type(token) is int or type(token) is str:
        return token
    raise RequestError(INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")


def _text(meta: Mapping[str, Any], name: str) -> str | None:
    value = meta.get(name)
    return value if isinstance(value, str) and len(value) <= TRACE_TEXT_AT_MOST else None
