"""Durable writes a second, beside the raw write and fdatasync of the same directory.

Run from the checkout: `python tests/bench/bench_append.py [--json] [--seconds 0.5] [--rounds 5] [--directory DIR]`.
Appends of measurements with 1, 8 and 64 waiting in this process; claims asserted over stdio with 1 and 64 in flight.
The rounds are interleaved, because a device's speed drifts; figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.clock import SystemClock
from app.records.codec import body, line
from app.records.events import Measured
from app.store.file import FileLog
from tests.bench.peer import Peer, call

WAITING = (1, 8, 64)
IN_FLIGHT = (1, 64)


def observation() -> bytes:
    """A body of the usual size of a measurement."""
    data = {"kind": "http", "http_status": 200, "headers": [["content-type", "application/json"]] * 8}
    arguments = {"url": "http://127.0.0.1:8080/status", "method": "GET"}
    return body(Measured("facts.measure.http", arguments, "2026-09-22T08:14:03.482119Z", data, True, None))


def raw_rate(directory: str, seconds: float, data: bytes) -> float:
    """One write and one fdatasync at a time, nothing else."""
    path = os.path.join(directory, "raw")
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        os.write(descriptor, data)
        os.fdatasync(descriptor)
        count += 1
    rate = count / (time.perf_counter() - start)
    os.close(descriptor)
    os.unlink(path)
    return rate


async def append_rate(log: FileLog, waiting: int, seconds: float, data: bytes) -> float:
    """`waiting` tasks that each append again as soon as they are answered."""
    end = time.perf_counter() + seconds

    async def one() -> int:
        count = 0
        while time.perf_counter() < end:
            await log.append("bench", "observations", "o", data)
            count += 1
        return count

    start = time.perf_counter()
    counts = await asyncio.gather(*(one() for _ in range(waiting)))
    return sum(counts) / (time.perf_counter() - start)


def asserts() -> Iterator[bytes]:
    """Claims that differ, one after another: an equal one would be answered without a write."""
    for number in itertools.count():
        statement = f"the status page {number} of the store answers 200 within a second over plain HTTP"
        arguments = {"project": "bench", "statement": statement, "observed_by": "bench", "tags": ["store"]}
        yield call(number, "facts_recall_assert", arguments)


def measured(directory: str, rounds: int, seconds: float) -> dict[str, list[float]]:
    """The rates of every round by name."""
    data = observation()
    text = line(1, "o_01K5Z9K2QX7T4BVWRM3P8QJHYD", "2026-09-22T08:14:03.482119Z", data)
    log = FileLog(os.path.join(directory, "data"), SystemClock())
    claims = asserts()
    server = Peer(
        [sys.executable, "-m", "app"], b'"resultType":"complete"', {"PLINTH_DATA_DIR": f"{directory}/served"}
    )
    names = ["raw", *(f"{n} waiting" for n in WAITING), *(f"{n} in flight" for n in IN_FLIGHT)]
    rates: dict[str, list[float]] = {name: [] for name in names}
    asyncio.run(append_rate(log, 1, 0.05, data))
    server.rate(claims, 1, 0.05)
    for _ in range(rounds):
        for waiting in WAITING:
            rates["raw"].append(raw_rate(directory, seconds / len(WAITING), text))
            rates[f"{waiting} waiting"].append(asyncio.run(append_rate(log, waiting, seconds, data)))
        for in_flight in IN_FLIGHT:
            rates[f"{in_flight} in flight"].append(server.rate(claims, in_flight, seconds))
    server.close()
    log.close()
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        rates = measured(directory, options.rounds, options.seconds)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    result = {
        "writes_per_second": {name: round(value) for name, value in medians.items()},
        "times_raw": {name: round(value / medians["raw"], 2) for name, value in medians.items()},
    }
    if options.json:
        sys.stdout.write(json.dumps(result) + "\n")
        return
    for name, value in medians.items():
        sys.stdout.write(f"{name:>12}: {value:>9,.0f}/s   {value / medians['raw']:6.2f} x raw\n")


if __name__ == "__main__":
    main()
