"""MCP on standard input and output: one line a message, and nothing else ever reaches the wire.

Two threads do the blocking reads and writes. That works for pipes, sockets, terminals, files and /dev/null alike,
and leaves the flags of the descriptions alone, which other processes may share. (asyncio's pipe transports set
O_NONBLOCK on them and refuse regular files; measured, they are also half as fast.)

Rules: the end of input lets running calls end for a while, a signal does not; whatever was earned is written
before the exit, unless nobody reads it; both endings are orderly and have exit code 0.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import logging
import os
import select
import signal
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from app.mcp.framing import Lines, Oversize

READ_BYTES: Final = 64 * 1024
# Small enough for a slow reader to show progress, large enough to cost nothing.
WRITE_BYTES: Final = 16 * 1024

_LOG = logging.getLogger("facts")


class Handler(Protocol):
    """One conversation, as the dispatcher offers it; it answers through the function it was made with."""

    def receive(self, line: bytes) -> None:
        """Take one line; never waits and never raises."""
        ...

    def oversize(self, prefix: bytes) -> None:
        """Take an excerpt of a line that was too long."""
        ...

    async def drain(self, seconds: float) -> None:
        """Let running calls end; what still runs after `seconds` is cancelled."""
        ...

    def close(self) -> None:
        """Say what is to be said at the very end."""
        ...


Connect: TypeAlias = Callable[[Callable[[bytes], None]], Handler]


class Limits(NamedTuple):
    """How long, and how much, a client may keep us waiting."""

    drain_seconds: float = 5.0  # for running calls, after the end of input
    flush_seconds: float = 5.0  # without one byte of output taken, after the end of input
    flush_seconds_after_signal: float = 0.5
    backlog_bytes: int = 64 * 1024 * 1024  # while more output waits, the next messages of the client wait too
    stalled_seconds: float = 60.0  # a client that takes no byte of a full backlog for so long counts as gone


LIMITS: Final = Limits()


class Wire(NamedTuple):
    """The private descriptors of the conversation; nobody else in this process knows them."""

    reading: int
    writing: int

    def close(self) -> None:
        """Nobody will converse over it."""
        os.close(self.reading)
        os.close(self.writing)


def claim(stdin_fd: int = 0, stdout_fd: int = 1, stderr_fd: int = 2) -> Wire:
    """Take standard input and output for the wire; prints of anybody go to stderr, reads find the end.

    Call it before anything is imported that might print. Children inherit neither end of the wire.
    """
    wire = Wire(_private(stdin_fd, os.O_RDONLY), _private(stdout_fd, os.O_WRONLY))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, stdin_fd)
    os.dup2(stderr_fd if _is_open(stderr_fd) else nothing, stdout_fd)
    if nothing not in (stdin_fd, stdout_fd, stderr_fd):
        os.close(nothing)
    return wire


async def signalled() -> None:
    """Return at SIGTERM or SIGINT, for which PID 1 has no default."""
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    await asked.wait()


async def serve(connect: Connect, wire: Wire, limits: Limits = LIMITS) -> int:
    """Carry one conversation until the end of input, a signal or a broken output; the exit code.

    SIGTERM and SIGINT are handled explicitly, because PID 1 has no default for them. 0 for every orderly end, a
    client that went away included; 1 when the output could not be written for another reason.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()
    asked: asyncio.Future[Any] = asyncio.ensure_future(signalled())
    writer = _Writer(wire.writing, loop, limits, lambda: _settle(ended, "broken"))
    handler = connect(writer.send)
    reader = _Reader(wire.reading, loop, handler, writer, lambda: _settle(ended, "eof"))
    reader.start()
    await asyncio.wait({ended, asked}, return_when=asyncio.FIRST_COMPLETED)
    reader.stop()
    if ended.done() and ended.result() == "eof":
        await _drain(handler, limits.drain_seconds, asked)
    await handler.drain(0)
    handler.close()
    await writer.finish(asked)
    asked.cancel()
    return 1 if writer.failed else 0


async def _drain(handler: Handler, seconds: float, asked: asyncio.Future[Any]) -> None:
    """Let calls end, unless a signal comes."""
    draining: asyncio.Future[Any] = asyncio.ensure_future(handler.drain(seconds))
    await asyncio.wait({draining, asked}, return_when=asyncio.FIRST_COMPLETED)
    if draining.done():
        draining.result()
    else:
        draining.cancel()


class _Reader:
    """A daemon thread that blocks in read(2); at the end it is left there, because nothing can wake it."""

    def __init__(
        self,
        descriptor: int,
        loop: asyncio.AbstractEventLoop,
        handler: Handler,
        writer: _Writer,
        on_end: Callable[[], None],
    ) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._handler = handler
        self._writer = writer
        self._on_end = on_end
        self._stopped = False
        self._taken = threading.Semaphore(2)  # pieces on their way to the loop: bounded, and never idle

    def start(self) -> None:
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    def stop(self) -> None:
        """What was read and not yet taken is not executed."""
        self._stopped = True

    def _run(self) -> None:
        lines = Lines()
        while piece := _read(self._descriptor):
            found = lines.feed(piece)
            if found:
                self._taken.acquire()
                self._writer.wait_for_room()
                if not _tell(self._loop, self._take, found):
                    return
        # What stands after the last line end is half a message: it is not executed.
        _tell(self._loop, self._on_end)

    def _take(self, found: list[bytes | Oversize]) -> None:
        self._taken.release()
        for line in found:
            if self._stopped:
                return
            if isinstance(line, Oversize):
                self._handler.oversize(line.excerpt)
            else:
                self._handler.receive(line)


class _Writer:
    """Joins what one turn of the loop has to say; a daemon thread writes it, and a broken output ends that.

    What is short goes out at once when the output has room for it: no thread has to be woken for one answer.
    """

    def __init__(
        self,
        descriptor: int,
        loop: asyncio.AbstractEventLoop,
        limits: Limits,
        on_broken: Callable[[], None],
    ) -> None:
        self.failed = False
        self._ended = False
        self._descriptor = descriptor
        self._loop = loop
        self._limits = limits
        self._on_broken = on_broken
        self._lines: list[bytes] = []  # of this turn of the loop
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._queued = 0  # counted by the loop
        self._written = 0  # counted by the thread, or by the loop while the thread has nothing to do: no lock
        self._output = select.poll()
        self._output.register(descriptor, select.POLLOUT)
        self._room = threading.Event()
        self._done: asyncio.Future[None] = loop.create_future()
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    def send(self, line: bytes) -> None:
        """Take one line; its end is added here."""
        if not self._lines:
            self._loop.call_soon(self._hand_over)
        self._lines.append(line)

    def _hand_over(self) -> None:
        if not self._lines:
            return
        data = b"\n".join([*self._lines, b""])
        self._lines.clear()
        is_idle = self._queued == self._written
        self._queued += len(data)
        if is_idle and len(data) <= select.PIPE_BUF:
            data = data[self._write_at_once(data) :]
        if data:
            self._queue.put(data)

    def _write_at_once(self, data: bytes) -> int:
        """A pipe with room takes PIPE_BUF bytes without waiting; what fails here is left to the thread."""
        if self._output.poll(0) != [(self._descriptor, select.POLLOUT)]:
            return 0
        try:
            count = os.write(self._descriptor, data)
        except OSError:
            return 0
        self._written += count
        return count

    def wait_for_room(self) -> None:
        """Hold up the reader while its client does not read; one that reads nothing for long counts as gone."""
        while self._is_full():
            self._room.clear()
            if self._is_full() and not self._room.wait(self._limits.stalled_seconds):
                _LOG.error("standard output was not read for %g seconds", self._limits.stalled_seconds)
                _tell(self._loop, self._on_broken)
                return

    def _is_full(self) -> bool:
        return not self._ended and self._queued - self._written > self._limits.backlog_bytes

    async def finish(self, asked: asyncio.Future[Any]) -> None:
        """Wait until all is written, or until no byte was taken for a while: nobody holds up the exit."""
        self._hand_over()
        self._queue.put(None)
        while not (self._done.done() or asked.done()):
            before = self._written
            await asyncio.wait(
                {self._done, asked}, timeout=self._limits.flush_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if self._written == before:
                break
        if asked.done():
            await asyncio.wait({self._done}, timeout=self._limits.flush_seconds_after_signal)

    def _run(self) -> None:
        try:
            while self._write_waiting():
                pass
        except OSError as problem:
            # The client went away, or a file system is full: there is nobody to tell but the log.
            if problem.errno != errno.EPIPE:
                self.failed = True
                _LOG.error("standard output cannot be written: %s", problem.strerror)
            _tell(self._loop, self._on_broken)
        self._ended = True
        self._room.set()
        _tell(self._loop, _settle, self._done, None)

    def _write_waiting(self) -> bool:
        pieces, more = _waiting(self._queue)
        data = memoryview(b"".join(pieces))
        while data:
            count = _write(self._descriptor, data[:WRITE_BYTES])
            self._written += count
            data = data[count:]
            self._room.set()
        return more


def _waiting(queue: SimpleQueue[bytes | None]) -> tuple[list[bytes], bool]:
    """All that is queued, at least one; False when the end is among it."""
    pieces: list[bytes] = []
    piece = queue.get()
    while piece is not None:
        pieces.append(piece)
        try:
            piece = queue.get_nowait()
        except Empty:
            return pieces, True
    return pieces, False


def _read(descriptor: int) -> bytes:
    """The next piece; empty at the end, and also when the input cannot be read."""
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            # Somebody who shares the description made it non-blocking.
            select.select([descriptor], [], [])
        except OSError as problem:
            _LOG.error("standard input cannot be read: %s", problem.strerror)
            return b""


def _write(descriptor: int, data: memoryview) -> int:
    while True:
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            select.select([], [descriptor], [])


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: object) -> bool:
    """Hand a call to the loop; False when it has ended, so that a thread that comes late ends too."""
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return False
    return True


def _private(descriptor: int, flags: int) -> int:
    """A duplicate above the standard ones, closed at exec; of a closed descriptor, the null device."""
    if _is_open(descriptor):
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, flags)
    try:
        return fcntl.fcntl(nothing, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(nothing)


def _is_open(descriptor: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETFD)
    except OSError:
        return False
    return True
