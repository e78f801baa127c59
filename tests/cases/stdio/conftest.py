"""The whole server as a client starts it: a process, its standard input, and the lines of its standard output."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 30.0
PIECE = 65536


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """The default surroundings: a fresh registry, loopback alone, no rates; nothing of the developer's shell."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "PLINTH_DATA_DIR": str(folder / "data"),
        "PLINTH_FACTS_NET_PROFILE": "loopback",
        "PLINTH_FACTS_RATE_TARGET": "0",
        "PLINTH_FACTS_RATE_TOTAL": "0",
        **settings,
    }


class Server:
    """A running server and what it has said so far."""

    def __init__(self, folder: Path, prefix: tuple[str, ...] = (), **settings: str) -> None:
        self.folder = folder
        self.raw = bytearray()
        self._changed = threading.Condition()
        self._log = (folder / "stderr").open("wb")
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "app"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=folder,
            env=environment(folder, **settings),
            bufsize=0,
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        self._listening = True
        self._pipe = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Read whenever there is something and the client listens."""
        ended = False
        while not ended:
            with self._pipe:
                if not self._listening or not select.select([self.output], [], [], 0.02)[0]:
                    piece = None
                else:
                    piece = os.read(self.output, PIECE)
            with self._changed:
                self.raw += piece or b""
                ended = piece == b""
                self._changed.notify_all()
                self._changed.wait(0 if self._listening else 0.02)

    def pause(self) -> None:
        """From now on nobody reads what the server says."""
        with self._pipe:
            self._listening = False

    def listen(self) -> None:
        self._listening = True

    def die(self) -> None:
        """Close both ends, as the death of a client does."""
        self.hang_up()
        with self._pipe:
            assert self.process.stdout is not None
            self._listening = False
            self.process.stdout.close()
            self.output = os.open(os.devnull, os.O_RDONLY)
            self._listening = True

    def write(self, data: bytes) -> None:
        """Raw bytes, all of them."""
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) or 0 :]

    def say(self, *messages: Any) -> None:
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def ask(self, id_: Any, method: str, **params: Any) -> None:
        self.say({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    def call(self, id_: Any, url: str, **arguments: Any) -> None:
        arguments = {"project": "cases", "url": url, **arguments}
        self.ask(id_, "tools/call", name="facts_measure_http", arguments=arguments)

    def recall(self, id_: Any, name: str, **arguments: Any) -> None:
        """Call a recall tool by the last part of its name."""
        self.ask(id_, "tools/call", name=f"facts_recall_{name}", arguments={"project": "cases", **arguments})

    def initialize(self, version: str = "2025-11-25") -> Any:
        self.ask("init", "initialize", protocolVersion=version, capabilities={}, clientInfo={})
        return self.answer("init")

    def said(self) -> list[Any]:
        """All whole lines so far; fails on one that is not JSON."""
        return [json.loads(line) for line in bytes(self.raw).split(b"\n")[:-1]]

    def answers(self, id_: Any) -> list[Any]:
        return [
            message
            for message in self.said()
            if isinstance(message, dict) and "id" in message and _same(message["id"], id_)
        ]

    def answer(self, id_: Any, within: float = PATIENCE_SECONDS) -> Any:
        """The first answer with this very id, waited for."""
        self._wait(lambda: bool(self.answers(id_)), within)
        return self.answers(id_)[0]

    def lines(self, count: int, within: float = PATIENCE_SECONDS) -> list[Any]:
        """So many lines, waited for."""
        self._wait(lambda: self.raw.count(b"\n") >= count, within)
        return self.said()

    def content(self, id_: Any, within: float = PATIENCE_SECONDS) -> Any:
        """The structured content of the answer to a call."""
        return self.answer(id_, within)["result"]["structuredContent"]

    def ping(self, id_: Any, within: float = PATIENCE_SECONDS) -> Any:
        self.ask(id_, "ping")
        return self.answer(id_, within)

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ended(self, within: float = PATIENCE_SECONDS) -> int:
        """The exit code, waited for; afterwards all that was said has been read."""
        code = self.process.wait(within)
        self._reader.join(within)
        return code

    def records(self, log: str = "observations") -> list[Any]:
        """The stored lines of a log; fails on half a record."""
        text = (self.folder / f"data/projects/cases/logs/{log}.jsonl").read_text("utf-8")
        assert text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]

    def log(self) -> str:
        return (self.folder / "stderr").read_text("utf-8")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listen()
        self._reader.join(5)
        assert self.process.stdout is not None
        if self.process.stdout.closed:
            os.close(self.output)
        for stream in (self.process.stdin, self.process.stdout, self._log):
            assert stream is not None
            stream.close()

    def _wait(self, reached: Callable[[], bool], within: float) -> None:
        with self._changed:
            assert self._changed.wait_for(reached, within), f"not said: {self.log()[-2000:]}"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """`server(**settings)` starts one that is killed after the test, if it still runs."""
    running: list[Server] = []

    def start(*prefix: str, **settings: str) -> Server:
        folder = tmp_path / f"server{len(running)}"
        folder.mkdir()
        running.append(Server(folder, prefix, **settings))
        return running[-1]

    yield start
    for one in running:
        one.end()
