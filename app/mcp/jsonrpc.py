"""JSON-RPC 2.0: bytes become frozen messages, answers become lines; what cannot be read is a value too.

Ids are strings or integers of any size and come back unchanged; an id that cannot be read is left out, because
the schema of MCP knows no `null` there. Sources: jsonrpc.org/specification, MCP 2026-07-28 `basic/index`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from app.errors import RequestError

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022

# Deeper values are refused at the border, so that nothing behind it can run out of stack.
NESTING_AT_MOST: Final = 128

RequestId: TypeAlias = int | str

_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()


class Request(msgspec.Struct, frozen=True):
    """A message that wants one answer."""

    id: RequestId
    method: str
    params: dict[str, Any]


class Notification(msgspec.Struct, frozen=True):
    """A message that is never answered."""

    method: str
    params: dict[str, Any]


class Response(msgspec.Struct, frozen=True):
    """An answer to a request that we never sent: it is ignored."""


class Invalid(msgspec.Struct, frozen=True):
    """What is answered with an error at once; `id` is None when it could not be read."""

    id: RequestId | None
    code: int
    message: str


class Array(msgspec.Struct, frozen=True):
    """A batch (one revision knows them); the messages in their order, none of them an array."""

    messages: tuple[Request | Notification | Response | Invalid, ...]


Single: TypeAlias = Request | Notification | Response | Invalid
Message: TypeAlias = Single | Array


def read(line: bytes) -> Message:
    """One line of the wire as a message; never raises."""
    try:
        value = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError):
        # Invalid UTF-8, a lone surrogate and a number beyond all bounds arrive here too.
        return Invalid(None, PARSE_ERROR, "Parse error")
    if _nests_too_deep(line, value):
        return Invalid(
            _id_of(value), INVALID_REQUEST, f"The message nests deeper than {NESTING_AT_MOST} levels"
        )
    if isinstance(value, list):
        return Array(tuple(_single(item) for item in value))
    return _single(value)


def result_line(id_: RequestId, body: bytes) -> bytes:
    """The answer to a request; `body` is an encoded object without line breaks."""
    return b'{"jsonrpc":"2.0","id":' + _ENCODER.encode(id_) + b',"result":' + body + b"}"


def error_line(id_: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    """The error answer; without an id when that of the request could not be read."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    known = {} if id_ is None else {"id": id_}
    return _ENCODER.encode({"jsonrpc": "2.0", **known, "error": error})


def notification_line(method: str, params: dict[str, Any]) -> bytes:
    """A notification to the client."""
    return _ENCODER.encode({"jsonrpc": "2.0", "method": method, "params": params})


def refusal(request: Request, error: RequestError) -> bytes:
    """The error answer to a request that cannot be served."""
    return error_line(request.id, error.code, error.message, error.data)


def _single(value: Any) -> Single:
    if not isinstance(value, dict):
        return Invalid(None, INVALID_REQUEST, "A message is a JSON object")
    method = value.get("method")
    if "method" not in value and ("result" in value or "error" in value):
        return Response()
    id_ = _id_of(value)
    if "id" in value and id_ is None:
        return Invalid(None, INVALID_REQUEST, "id must be a string or an integer")
    if value.get("jsonrpc") != "2.0":
        return Invalid(id_, INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if not isinstance(method, str):
        return Invalid(id_, INVALID_REQUEST, "method must be a string")
    return _with_params(id_, method, value.get("params"))


def _with_params(id_: RequestId | None, method: str, params: Any) -> Single:
    # Some clients write `null` where they have no parameters.
    usable = {} if params is None else params
    if id_ is None:
        return Notification(method, usable if isinstance(usable, dict) else {})
    if not isinstance(usable, dict):
        return Invalid(id_, INVALID_PARAMS, "params must be an object")
    return Request(id_, method, usable)


def _id_of(value: Any) -> RequestId | None:
    """The id of a decoded message; None when it is absent or of no admitted type (bool is an int in Python)."""
    id_ = value.get("id") if isinstance(value, dict) else None
    return id_ if type(id_) is int or type(id_) is str else None


def _nests_too_deep(line: bytes, value: Any) -> bool:
    if line.count(b"[") + line.count(b"{") <= NESTING_AT_MOST:
        return False
    level = [value]
    for _ in range(NESTING_AT_MOST):
        level = [child for item in level for child in _children(item) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(item: dict[str, Any] | list[Any]) -> Any:
    return item.values() if isinstance(item, dict) else item
