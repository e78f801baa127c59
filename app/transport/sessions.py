"""Sessions of the older era: what `initialize` settled on, whose it is, and what is in flight in it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from app.mcp.jsonrpc import RequestId
from app.transport.connections import Refused
from app.transport.exchange import Exchange

NAME: Final = "Mcp-Session-Id"


class Session(NamedTuple):
    """One of them; `caller` is the name of the token that opened it."""

    version: str
    caller: str | None
    exchanges: set[Exchange]

    def cancel(self, request_id: RequestId) -> None:
        """Stop a request of this session, whichever connection it came on."""
        for exchange in list(self.exchanges):
            exchange.cancel(request_id)


class Sessions:
    """All of them, the one used last at the end; a handle says nothing about who holds it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, Session] = {}

    def open(self, version: str, caller: str | None) -> str:
        """A new one, by a name that cannot be guessed; the oldest idle one makes room."""
        if len(self._kept) >= self._most:
            idle = next((name for name, one in self._kept.items() if not one.exchanges), None)
            if idle is not None:
                del self._kept[idle]
        name = secrets.token_urlsafe(24)
        self._kept[name] = Session(version, caller, set())
        return name

    def find(self, values: Sequence[str], caller: str | None) -> Session:
        """The one that these header values name; Refused where there is none, or it is somebody else's."""
        session = self._kept.get(values[0]) if len(values) == 1 else None
        if session is None or session.caller != caller:
            raise Refused(HTTPStatus.NOT_FOUND, "session", "There is no such session: initialize a new one")
        self._kept[values[0]] = self._kept.pop(values[0])
        return session

    def end(self, values: Sequence[str], caller: str | None) -> None:
        """Forget one; what is in flight in it goes on."""
        self.find(values, caller)
        del self._kept[values[0]]
