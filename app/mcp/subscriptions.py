"""Subscriptions on a shared channel: acknowledged, silent, and ended in order.

The list of tools never changes and nothing else is offered, so of what a client asks for nothing is honoured; the
subscription stays open until the client cancels it or the server goes away.
"""

from __future__ import annotations

import msgspec

from app.mcp.era import PREFIX
from app.mcp.jsonrpc import RequestId, notification_line, result_line

SUBSCRIPTION = PREFIX + "subscriptionId"


class Subscriptions:
    """The open ones of a conversation, by the id of the request that opened them."""

    def __init__(self) -> None:
        self._ids: dict[RequestId, None] = {}

    def __contains__(self, id_: RequestId) -> bool:
        return id_ in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def begin(self, id_: RequestId) -> bytes:
        """Open one; the line that acknowledges it."""
        self._ids[id_] = None
        params = {"_meta": {SUBSCRIPTION: id_}, "notifications": {}}
        return notification_line("notifications/subscriptions/acknowledged", params)

    def discard(self, id_: RequestId) -> None:
        """The client cancelled: nothing more is said about this one."""
        self._ids.pop(id_, None)

    def end(self, server_meta: bytes, *, shared: bool) -> list[bytes]:
        """The lines that end all of them: the result, and on a shared channel (stdio) the cancellation besides."""
        lines: list[bytes] = []
        for id_ in self._ids:
            meta = msgspec.json.encode({SUBSCRIPTION: id_})[:-1] + b"," + server_meta[1:]
            lines.append(result_line(id_, b'{"resultType":"complete","_meta":' + meta + b"}"))
            if shared:
                params = {"requestId": id_, "reason": "The server is going away"}
                lines.append(notification_line("notifications/cancelled", params))
        self._ids.clear()
        return lines
