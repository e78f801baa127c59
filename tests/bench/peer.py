"""A server process that benchmarks call over its standard input and output."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def call(number: int, name: str, arguments: Mapping[str, object]) -> bytes:
    """The line of a `tools/call` of the modern era."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    return line({"id": number, "method": "tools/call", "params": params})


def line(message: Mapping[str, object]) -> bytes:
    """One JSON-RPC message as it goes over the pipe."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


class Peer:
    """A server; an answer without the bytes `expected` ends the run with an error."""

    def __init__(
        self, command: Sequence[str], expected: bytes, environment: Mapping[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._expected = expected

    def rate(self, lines: Iterator[bytes], in_flight: int, seconds: float) -> float:
        """Answers a second with so many requests unanswered at any time."""
        began = time.perf_counter()
        end, answered, right = began + seconds, 0, 0
        self.send(*itertools.islice(lines, in_flight))
        sent = in_flight
        while answered < sent:
            piece = self.receive()
            count = piece.count(b"\n")
            answered += count
            right += piece.count(self._expected)
            if time.perf_counter() < end:
                self.send(*itertools.islice(lines, count))
                sent += count
        if right != answered:
            raise SystemExit(f"{answered - right} of {answered} answers are not what was expected")
        return answered / (time.perf_counter() - began)

    def ask(self, request: bytes) -> dict[str, Any]:
        """The answer to one request; notifications before it are left out."""
        self.send(request)
        while True:
            for text in self.receive().splitlines():
                message: dict[str, Any] = json.loads(text)
                if "id" in message:
                    return message

    def send(self, *lines: bytes) -> None:
        """Write all of it."""
        data = memoryview(b"".join(lines))
        while data:
            data = data[os.write(self._stdin, data) :]

    def receive(self) -> bytes:
        """What has come, whole lines only, so that what is expected is never cut in two."""
        pieces: list[bytes] = []
        while not pieces or not pieces[-1].endswith(b"\n"):
            pieces.append(os.read(self._stdout, 1 << 20))
            if not pieces[-1]:
                raise SystemExit("the server went away")
        return b"".join(pieces)

    def peak_rss(self) -> float:
        """The most memory the process had, in megabytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        found = next(text for text in status.splitlines() if text.startswith("VmHWM"))
        return int(found.split()[1]) / 1024

    def close(self) -> None:
        """End the input and wait for the process."""
        self._process.communicate(timeout=60)
