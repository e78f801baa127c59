"""Round trips of `tools/call` a second with 1 and 64 in flight, beside a server of the official SDK.

Run from the checkout: `python tests/bench/bench_calls.py --sdk-python PYTHON [--json] [--rounds 5] [--seconds 1]`,
where PYTHON has `mcp` 2.x and is of the same release. Ours judges a target that the policy refuses, so that the
whole way to the decision and back is walked and no packet leaves; the SDK's tool answers a constant. The rounds are
interleaved and the figures are medians. Goal: 15 times the SDK.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.peer import Peer, call

IN_FLIGHT = (1, 64)
IDS = 4096
ARGUMENTS = {"project": "bench", "url": "http://10.0.0.1/"}


def requests() -> Iterator[bytes]:
    """Lines to send over and over; an id comes again only long after its answer."""
    return itertools.cycle([call(number, "facts_measure_http", ARGUMENTS) for number in range(IDS)])


def measure(sdk_python: str, rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Median rates by server and number in flight, after a short run that only warms up."""
    servers = {
        "ours": (Peer([sys.executable, "-m", "app"], b'"isError":true'), requests()),
        "sdk": (Peer([sdk_python, "tests/bench/sdk_server.py"], b'"resultType":"complete"'), requests()),
    }
    taken: dict[str, dict[int, list[float]]] = {name: {count: [] for count in IN_FLIGHT} for name in servers}
    for server, lines in servers.values():
        server.rate(lines, 1, 0.2)
    for _ in range(rounds):
        for count in IN_FLIGHT:
            for name, (server, lines) in servers.items():
                taken[name][count].append(server.rate(lines, count, seconds))
    for server, _ in servers.values():
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
