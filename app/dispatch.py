"""Bytes in, bytes out: runs the calls that the peer reads, cancels them, and writes the one log line a call."""

from __future__ import annotations

import asyncio
import re
import sys
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec

from app.clock import Clock
from app.errors import FactsError, StoreError, ToolError
from app.mcp.events import Call, Cancel, Event, Send
from app.mcp.jsonrpc import Message, RequestId
from app.mcp.peer import Peer, ToolOutcome
from app.redact import Redactor
from app.telemetry import Journal
from app.tools.observation import error_content
from app.tools.tool import Context, Tool, validate

GRACE_SECONDS = 0.5
CALLS_AT_MOST = 1024
HELD_BYTES_AT_MOST = 32 * 1024 * 1024
TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")  # W3C Trace Context
PROGRESS_EVERY_NS = 50_000_000
ENCODER = msgspec.json.Encoder()


class Dispatcher:
    """One conversation: `receive` never waits; answers leave by `send` as they are earned."""

    def __init__(
        self,
        peer: Peer,
        tools: Mapping[str, Tool],
        redactor: Callable[[], Redactor],
        clock: Clock,
        journal: Journal,
        send: Callable[[Send], None],
        caller: str | None = None,
    ) -> None:
        self._peer = peer
        self._tools = tools
        self._redactor = redactor
        self._clock = clock
        self._journal = journal
        self._send = send
        self._caller = caller
        self._running: dict[int, asyncio.Task[None]] = {}
        self._held_bytes = 0

    @property
    def is_open(self) -> bool:
        """Whether the client is owed something: an answer, or the end of a subscription."""
        return self._peer.is_open

    def receive(self, line: bytes) -> None:
        """Take one line of the wire."""
        self._act(self._peer.receive(line), len(line))

    def accept(self, message: Message, size: int) -> None:
        """Take one message that was read before, from so many bytes."""
        self._act(self._peer.accept(message), size)

    def cancel(self, request_id: RequestId) -> None:
        """Nobody waits for this request any more."""
        self._act(self._peer.cancel(request_id))

    def oversize(self, prefix: bytes) -> None:
        """Take the beginning of a line that was too long to be read."""
        self._act(self._peer.oversize(prefix))

    async def drain(self, seconds: float) -> None:
        """Let running calls end for `seconds`; the rest is cancelled, stored as such, and answered."""
        if self._running:
            await asyncio.wait(self._running.values(), timeout=seconds)
        for task in self._running.values():
            task.cancel()
        if self._running:
            await asyncio.wait(self._running.values(), timeout=GRACE_SECONDS)
        for task in self._running.values():
            task.cancel()  # what still waits, for a held lock or a stalled disk, is given up
        if self._running:
            await asyncio.wait(self._running.values(), timeout=GRACE_SECONDS)

    def close(self, *, shared: bool = True) -> None:
        """End the subscriptions; on a channel that others share, each is cancelled besides."""
        for line in self._peer.close(shared=shared):
            self._send(Send(line))

    def _act(self, events: list[Event], size: int = 0) -> None:
        for event in events:
            if isinstance(event, Send):
                self._send(event)
            elif isinstance(event, Call):
                self._start(event, size)
            elif isinstance(event, Cancel) and event.key in self._running:
                self._running[event.key].cancel()

    def _start(self, call: Call, size: int) -> None:
        is_full = self._held_bytes + size > HELD_BYTES_AT_MOST
        if self._running and (is_full or len(self._running) >= CALLS_AT_MOST):
            busy = ToolError("busy", f"{len(self._running)} calls of this client are still running.")
            self._settle(call, self._error(call, busy), busy.code, self._clock.monotonic_ns())
            return
        task = _begun(self._run(call))
        if not task.done():
            self._running[call.key] = task
            self._held_bytes += size
            task.add_done_callback(lambda _: self._forget(call.key, size))

    def _forget(self, key: int, size: int) -> None:
        del self._running[key]
        self._held_bytes -= size

    async def _run(self, call: Call) -> None:
        began = self._clock.monotonic_ns()
        content, outcome = await self._content(call)
        self._settle(call, content, outcome, began)

    def _settle(self, call: Call, content: bytes, outcome: str, began: int) -> None:
        is_error = outcome not in ("ok", "not_ok")
        sent = self._peer.finish(call, ToolOutcome(content, is_error))
        self._act(sent)
        self._log(call, outcome if sent else "cancelled", began)

    async def _content(self, call: Call) -> tuple[bytes, str]:
        try:
            answer = await self._answer(call)
        except FactsError as error:
            problem = _problem(error)
            return self._error(call, problem), problem.code
        except asyncio.CancelledError:
            return self._error(
                call, ToolError("busy", "The call was cancelled before anything was stored.")
            ), "cancelled"
        except Exception:  # noqa: BLE001 - the one place: a fault of ours must not end the conversation
            self._journal.note("error", "failure", tool=call.name, message=traceback.format_exc())
            return self._error(
                call, ToolError("internal_error", "This is a fault of the server.")
            ), "internal_error"
        return ENCODER.encode(answer), "ok" if answer.get("ok", True) else "not_ok"

    async def _answer(self, call: Call) -> dict[str, Any]:
        tool = self._tools[call.name]
        params = validate(tool.params, call.arguments)
        return await tool.run(params, call.arguments, Context(self._progress(call), self._caller))

    def _error(self, call: Call, problem: ToolError) -> bytes:
        return ENCODER.encode(error_content(self._redactor(), problem, call.arguments))

    def _progress(self, call: Call) -> Callable[[str], None]:
        if not call.progress:
            return _silent
        return _Progress(
            self._clock, lambda message, count: self._act(self._peer.progress(call, message, count))
        )

    def _log(self, call: Call, outcome: str, began: int) -> None:
        ms = round((self._clock.monotonic_ns() - began) / 1e6, 3)
        trace = {"trace": call.trace} if call.trace and TRACEPARENT.fullmatch(call.trace) else {}
        self._journal.note("info", "call", tool=call.name, outcome=outcome, ms=ms, **trace)


class _Progress:
    """Progress of one call: a growing count, and not more than twenty messages a second."""

    def __init__(self, clock: Clock, emit: Callable[[str, int], None]) -> None:
        self._clock = clock
        self._emit = emit
        self._count = 0
        self._next_ns = 0

    def __call__(self, message: str) -> None:
        self._count += 1
        now = self._clock.monotonic_ns()
        if now >= self._next_ns:
            self._next_ns = now + PROGRESS_EVERY_NS
            self._emit(message, self._count)


def _begun(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task for the work; where Python can, it has run up to its first wait, so that a refusal needs no turn."""
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, eager_start=True)
    return loop.create_task(work)


def _silent(_message: str) -> None:
    """Nobody asked for progress."""


def _problem(error: FactsError) -> ToolError:
    if isinstance(error, ToolError):
        return error
    if isinstance(error, StoreError):
        return ToolError("storage_failed", error.message, reason_code=error.reason)
    raise error
