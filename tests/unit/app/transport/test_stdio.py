"""Standard input and output as the wire: what is carried, how it ends, and what never reaches it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.mcp.framing import LINE_AT_MOST
from app.transport.stdio import Limits, Wire, claim, serve

QUICK = Limits(drain_seconds=30, flush_seconds=0.1, flush_seconds_after_signal=0.1)


class Handler:
    """Answers each line with itself; lines that name a deed do it."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.send = send
        self.lines: list[bytes] = []
        self.drained: list[float] = []
        self.closed = 0
        self.answer_at_drain = b""
        self.more: Callable[[], Coroutine[Any, Any, None]]

    def receive(self, line: bytes) -> None:
        self.lines.append(line)
        if line in (b"SIGTERM", b"SIGINT"):
            os.kill(os.getpid(), getattr(signal, line.decode()))
        elif line == b"flood":
            self.send(b"x" * 1_000_000)
        else:
            self.send(line)

    def oversize(self, prefix: bytes) -> None:
        self.send(b"too long: %d" % len(prefix))

    async def drain(self, seconds: float) -> None:
        self.drained.append(seconds)
        if seconds and b"hang" in self.lines:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        if b"await more" in self.lines:
            await self.more()
        if seconds and self.answer_at_drain:
            self.send(self.answer_at_drain)

    def close(self) -> None:
        self.closed += 1
        self.send(b"closed")


class Served:
    """One run over two pipes; the client's ends stay open until told otherwise."""

    def __init__(self) -> None:
        self.reading, self.client_writes = os.pipe()
        self.client_reads, self.writing = os.pipe()
        self.handler: Handler | None = None
        self.at_drain = b""

    def say(self, data: bytes) -> None:
        os.write(self.client_writes, data)

    def listen(self, after: float, size: int) -> Callable[[], bytes]:
        """Read to the end in pieces of `size`, beginning later; the result waits for it."""
        heard = bytearray()

        def read() -> None:
            while not heard.endswith(b"closed\n"):
                heard.extend(os.read(self.client_reads, size))

        listener = threading.Timer(after, read)
        listener.start()

        def everything() -> bytes:
            listener.join(10)
            return bytes(heard)

        return everything

    def hang_up(self) -> None:
        os.close(self.client_writes)

    def run(self, limits: Limits = QUICK) -> int:
        return asyncio.run(serve(self._connect, Wire(self.reading, self.writing), limits))

    def heard(self) -> bytes:
        os.close(self.writing)
        with os.fdopen(self.client_reads, "rb") as answers:
            return answers.read()

    async def _say_more(self) -> None:
        """Say something, and let the loop turn until the reader has taken it and could hand it over."""
        self.say(b"more\n")
        turns = 0
        for _ in range(1_000_000):
            turns += not select.select([self.reading], [], [], 0)[0]
            if turns > 1000:
                return
            await asyncio.sleep(0)

    def _connect(self, send: Callable[[bytes], None]) -> Handler:
        self.handler = Handler(send)
        self.handler.answer_at_drain = self.at_drain
        self.handler.more = self._say_more
        return self.handler


@pytest.fixture
def served() -> Iterator[Served]:
    """Hangs up at last and waits for the threads, which would fail the test if they raised."""
    run = Served()
    yield run
    for descriptor in (run.client_writes, run.client_reads, run.writing):
        with contextlib.suppress(OSError):
            os.close(descriptor)
    for thread in threading.enumerate():
        if thread.name in ("stdin", "stdout"):
            thread.join(5)
    os.close(run.reading)


def test_each_line_is_handed_over_and_the_end_of_input_is_orderly(served: Served) -> None:
    served.say(b"a\n\r\nb\r\n")
    served.hang_up()

    assert served.run() == 0
    assert served.handler is not None
    assert (served.handler.lines, served.handler.drained) == ([b"a", b"b"], [30, 0])
    assert served.heard() == b"a\nb\nclosed\n"


def test_half_a_line_at_the_end_is_not_executed(served: Served) -> None:
    served.say(b"a\nhalf")
    served.hang_up()
    served.run()

    assert served.heard() == b"a\nclosed\n"


def test_an_input_without_a_byte_ends_at_once(served: Served) -> None:
    served.hang_up()

    assert (served.run(), served.heard()) == (0, b"closed\n")


def test_what_is_earned_during_the_drain_is_written(served: Served) -> None:
    served.at_drain = b"late"
    served.hang_up()
    served.run()

    assert served.heard() == b"late\nclosed\n"


@pytest.mark.parametrize("name", [b"SIGTERM", b"SIGINT"])
def test_a_signal_ends_it_without_drain_while_the_input_is_held_open(name: bytes, served: Served) -> None:
    served.say(b"a\n" + name + b"\n")

    assert served.run() == 0
    assert served.handler is not None
    assert (served.handler.drained, served.heard()) == ([0], b"a\nclosed\n")


def test_what_arrives_after_a_signal_is_not_executed(served: Served) -> None:
    served.say(b"await more\nSIGTERM\n")
    served.run()

    assert served.handler is not None
    assert served.handler.lines == [b"await more", b"SIGTERM"]


def test_a_signal_cuts_the_drain_short(served: Served) -> None:
    served.say(b"hang\n")
    served.hang_up()

    assert served.run() == 0
    assert served.handler is not None
    assert served.handler.drained == [30, 0]


def test_a_client_that_is_gone_ends_it_while_the_input_is_held_open(served: Served) -> None:
    os.close(served.client_reads)
    served.say(b"a\n")

    assert served.run() == 0
    assert served.handler is not None
    assert served.handler.drained == [0]


def test_an_output_that_cannot_be_written_is_a_failure(served: Served) -> None:
    served.say(b"a\n")
    wire = Wire(served.reading, served.reading)  # not open for writing

    assert asyncio.run(serve(Handler, wire, QUICK)) == 1


def test_an_input_that_cannot_be_read_counts_as_its_end(served: Served, tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)

    assert asyncio.run(serve(Handler, Wire(folder, served.writing), QUICK)) == 0
    assert served.heard() == b"closed\n"
    os.close(folder)


def test_a_client_that_does_not_read_does_not_hold_the_exit(served: Served) -> None:
    served.say(b"flood\n")
    served.hang_up()

    assert served.run() == 0


def test_a_client_that_does_not_read_does_not_hold_the_exit_after_a_signal(served: Served) -> None:
    served.say(b"flood\nSIGTERM\n")

    assert served.run(QUICK._replace(flush_seconds=60)) == 0


def test_a_slow_reader_gets_everything(served: Served) -> None:
    heard = served.listen(after=0, size=4096)
    served.say(b"flood\nflood\n")
    served.hang_up()
    served.run(QUICK._replace(flush_seconds=10))

    assert heard() == (b"x" * 1_000_000 + b"\n") * 2 + b"closed\n"


def test_a_full_backlog_holds_up_the_reader_until_the_client_reads(served: Served) -> None:
    heard = served.listen(after=0.05, size=65536)

    def talk() -> None:
        for piece in (b"flood\n", b"a\n" * 40_000, b"b\n"):
            served.say(piece)
        served.hang_up()

    threading.Thread(target=talk).start()

    assert served.run(QUICK._replace(backlog_bytes=1000, flush_seconds=10)) == 0
    assert heard() == b"x" * 1_000_000 + b"\n" + b"a\n" * 40_000 + b"b\nclosed\n"


def test_a_client_that_lets_the_backlog_grow_and_never_reads_counts_as_gone(served: Served) -> None:
    def talk() -> None:
        with contextlib.suppress(OSError):
            for _ in range(1000):
                served.say(b"flood\n" + b"a\n" * 40_000)

    talker = threading.Thread(target=talk)
    talker.start()

    assert served.run(QUICK._replace(backlog_bytes=1000, stalled_seconds=0.1)) == 0
    served.hang_up()
    os.close(served.client_reads)
    while talker.is_alive():
        with contextlib.suppress(BlockingIOError):
            os.read(served.reading, 65536)
    talker.join(5)


def test_a_line_beyond_the_limit_is_told_and_the_next_one_lives(served: Served) -> None:
    def talk() -> None:
        served.say(b"x" * (LINE_AT_MOST + 1) + b"\nnext\n")
        served.hang_up()

    threading.Thread(target=talk).start()
    served.run()

    assert served.heard() == b"too long: %d\nnext\nclosed\n" % (64 * 1024 + 1 + 4 * 1024)


def test_descriptions_that_others_made_non_blocking_are_waited_for(served: Served) -> None:
    os.set_blocking(served.reading, False)
    os.set_blocking(served.writing, False)
    heard = served.listen(after=0.1, size=65536)
    threading.Timer(0.05, served.say, (b"flood\n",)).start()
    threading.Timer(0.15, served.hang_up).start()

    assert served.run(QUICK._replace(flush_seconds=10)) == 0
    assert heard() == b"x" * 1_000_000 + b"\nclosed\n"


def test_regular_files_serve_as_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\nb\n")
    with (tmp_path / "in").open("rb") as reading, (tmp_path / "out").open("wb") as writing:
        asyncio.run(serve(Handler, Wire(reading.fileno(), writing.fileno()), QUICK))

    assert (tmp_path / "out").read_bytes() == b"a\nb\nclosed\n"


def test_the_null_device_serves_as_input_and_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)

    assert asyncio.run(serve(Handler, Wire(nothing, nothing), QUICK)) == 0
    os.close(nothing)


def test_a_socket_serves_as_input_and_output() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"a\n")
        theirs.shutdown(socket.SHUT_WR)
        asyncio.run(serve(Handler, Wire(ours.fileno(), ours.fileno()), QUICK))

        assert theirs.recv(100) == b"a\nclosed\n"


def test_a_reader_that_wakes_after_the_end_ends_silently(served: Served) -> None:
    served.say(b"SIGTERM\n")
    served.run()
    readers = [thread for thread in threading.enumerate() if thread.name == "stdin"]
    served.say(b"too late\n")
    for reader in readers:
        reader.join(5)

    assert served.heard() == b"closed\n"


@pytest.fixture
def standard(tmp_path: Path) -> Iterator[dict[str, int]]:
    """Three descriptors in the place of the standard ones."""
    reading, _ = pipe = os.pipe()
    names = {
        "in": reading,
        "out": os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT),
        "err": os.open(tmp_path / "err", os.O_WRONLY | os.O_CREAT),
    }
    os.write(pipe[1], b"a")
    os.close(pipe[1])
    yield names
    for descriptor in names.values():
        with contextlib.suppress(OSError):
            os.close(descriptor)


def close(wire: Wire) -> None:
    for descriptor in wire:
        os.close(descriptor)


def test_prints_go_to_stderr_and_only_the_wire_reaches_the_output(
    standard: dict[str, int], tmp_path: Path
) -> None:
    wire = claim(standard["in"], standard["out"], standard["err"])
    os.write(standard["out"], b"print")
    os.write(wire.writing, b"wire")
    close(wire)

    assert [(tmp_path / name).read_bytes() for name in ("out", "err")] == [b"wire", b"print"]


def test_reads_of_others_find_the_end_and_only_the_wire_reads_the_input(standard: dict[str, int]) -> None:
    wire = claim(standard["in"], standard["out"], standard["err"])

    assert (os.read(standard["in"], 10), os.read(wire.reading, 10)) == (b"", b"a")
    close(wire)


def test_the_wire_is_above_the_standard_descriptors_and_not_inherited(standard: dict[str, int]) -> None:
    wire = claim(standard["in"], standard["out"], standard["err"])

    assert min(wire) >= 3
    assert [os.get_inheritable(descriptor) for descriptor in wire] == [False, False]
    close(wire)


def test_closed_standard_descriptors_are_an_empty_input_and_a_void_output(standard: dict[str, int]) -> None:
    for descriptor in standard.values():
        os.close(descriptor)
    wire = claim(standard["in"], standard["out"], standard["err"])

    results: Any = (os.read(wire.reading, 10), os.write(wire.writing, b"x"), os.read(standard["in"], 10))
    assert results == (b"", 1, b"")
    close(wire)
