"""Round trips of `tools/call` a second with 1 and 64 in flight, beside a server of the official SDK.

Run from the checkout: `python tests/bench/bench_calls.py --sdk-python PYTHON [--json] [--rounds 5] [--seconds 1]`,
where PYTHON has `mcp` 2.x and is of the same release. Ours judges a target that the policy refuses, so that the
whole way to the decision and back is walked and no packet leaves; the SDK's tool answers a constant. The rounds are
interleaved and the figures are medians. Goal: 15 times the SDK.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_FLIGHT = (1, 64)
IDS = 4096
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"name": "facts_measure_http", "arguments": {"project": "bench", "url": "http://10.0.0.1/"}}


def requests() -> list[bytes]:
    """Lines to send over and over; an id comes again only long after its answer."""
    return [
        json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {**CALL, "_meta": META}}
        ).encode()
        + b"\n"
        for number in range(IDS)
    ]


class Server:
    """A process that is called over its standard input and output."""

    def __init__(self, command: Sequence[str], expected: bytes) -> None:
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._lines, self._next, self._expected = requests(), 0, expected

    def rate(self, in_flight: int, seconds: float) -> float:
        """Calls a second with so many unanswered at any time."""
        began = time.perf_counter()
        end, answered, right = began + seconds, 0, 0
        self._send(in_flight)
        sent = in_flight
        while answered < sent:
            piece = self._receive()
            count = piece.count(b"\n")
            answered += count
            right += piece.count(self._expected)
            if time.perf_counter() < end:
                self._send(count)
                sent += count
        if right != answered:
            raise SystemExit(f"{answered - right} of {answered} answers are not what was expected")
        return answered / (time.perf_counter() - began)

    def close(self) -> None:
        """End the input and wait for the process."""
        self._process.communicate(timeout=30)

    def _send(self, count: int) -> None:
        chosen = [self._lines[(self._next + step) % IDS] for step in range(count)]
        self._next = (self._next + count) % IDS
        data = memoryview(b"".join(chosen))
        while data:
            data = data[os.write(self._stdin, data) :]

    def _receive(self) -> bytes:
        """Whole lines only, so that what is expected is never cut in two."""
        piece = b""
        while not piece.endswith(b"\n"):
            read = os.read(self._stdout, 1 << 20)
            if not read:
                raise SystemExit("the server went away")
            piece += read
        return piece


def measure(sdk_python: str, rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Median rates by server and number in flight, after a short run that only warms up."""
    servers = {
        "ours": Server([sys.executable, "-m", "app"], b'"isError":true'),
        "sdk": Server([sdk_python, "tests/bench/sdk_server.py"], b'"resultType":"complete"'),
    }
    taken: dict[str, dict[int, list[float]]] = {name: {count: [] for count in IN_FLIGHT} for name in servers}
    for server in servers.values():
        server.rate(1, 0.2)
    for _ in range(rounds):
        for count in IN_FLIGHT:
            for name, server in servers.items():
                taken[name][count].append(server.rate(count, seconds))
    for server in servers.values():
        server.close()
    return {
        name: {str(count): statistics.median(found) for count, found in rates.items()}
        for name, rates in taken.items()
    }


def main() -> None:
    """Measure and print, for a person or as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sdk-python", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ |= {"PLINTH_FACTS_RATE_TARGET": "0", "PLINTH_FACTS_RATE_TOTAL": "0"}
    with tempfile.TemporaryDirectory() as directory:
        os.environ["PLINTH_DATA_DIR"] = directory
        rates = measure(options.sdk_python, options.rounds, options.seconds)
    answer = {"python": sys.version.split()[0], "calls_per_second": rates}
    if options.json:
        print(json.dumps(answer))
        return
    for count in map(str, IN_FLIGHT):
        ours, sdk = rates["ours"][count], rates["sdk"][count]
        print(f"{count:>3} in flight: ours {ours:8.0f}/s, SDK {sdk:8.0f}/s, {ours / sdk:5.1f} times")


if __name__ == "__main__":
    main()
