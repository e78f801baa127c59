"""The conversation behind a handshake: check its answer, listen for a window, leave as the protocol asks."""

from __future__ import annotations

import asyncio

from websockets.client import ClientProtocol
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHandshake
from websockets.http11 import Response

from app.clock import Clock
from app.errors import ProbeFailed
from app.measure.http1.hop import Hop
from app.measure.http1.journey import Journey
from app.measure.websocket.listener import Listener
from app.measure.websocket.plan import KEY, Listening, protocol_of
from app.measure.websocket.record import Record
from app.net.phases import Phases
from app.net.stream import Stream


class Conversation:
    """What is heard on the WebSocket of `journey`, else on the first that opens; others are closed at once.

    The facts at the top are those of the first journey, and the times of messages count from its hop.
    """

    def __init__(self, listening: Listening, clock: Clock) -> None:
        self.record = Record()
        self._listening = listening
        self._clock = clock
        self._has_begun = False
        self.journey: Journey | None = None

    async def __call__(self, hop: Hop, stream: Stream, phases: Phases, rest: bytes) -> None:
        """See `Talk`."""
        protocol = protocol_of(self._listening)
        _open(protocol, hop)
        if self._has_begun or not self._is_of_journey(hop):
            await Listener(protocol, stream, Record(), self._listening, self._clock).leave(hop, rest)
            return
        self._has_begun = True
        self.record.subprotocol = protocol.subprotocol
        self.record.extensions = [extension.name for extension in protocol.extensions]
        listener = Listener(protocol, stream, self.record, self._listening, self._clock)
        phases.begin("body")
        await listener.say(self._listening.send)
        await self._listen(listener, rest)
        phases.pause()
        await listener.leave(hop)

    def _is_of_journey(self, hop: Hop) -> bool:
        return self.journey is None or any(each is hop for each in self.journey.hops)

    async def _listen(self, listener: Listener, rest: bytes) -> None:
        try:
            async with asyncio.timeout(self._listening.window_s) as window:
                await listener.listen(rest)
        except TimeoutError:
            if not window.expired():
                raise
            self.record.stopped_by = "window"


def _open(protocol: ClientProtocol, hop: Hop) -> None:
    """Let the protocol check the answer to our handshake (RFC 6455, 4.1)."""
    protocol.key = dict(hop.request.upgrade)[KEY]
    headers = Headers()
    fields = hop.answer.head.fields if hop.answer.head else ()
    for name, value in fields:
        headers[name.decode("latin-1")] = value.decode("latin-1")
    try:
        protocol.process_response(Response(101, "", headers))
    except InvalidHandshake as error:
        message = f"the answer is no handshake of a WebSocket ({type(error).__name__})"
        raise ProbeFailed("head", "protocol_error", message) from error
