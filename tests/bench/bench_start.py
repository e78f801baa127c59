"""CPU and wall time from spawn to the first answer, beside bare asyncio and beside a server of the official SDK.

Run from the checkout: `python tests/bench/bench_start.py --sdk-python PYTHON [--json] [--rounds 15]`, where PYTHON
has `mcp` 2.x and is of the same release. The rounds are interleaved and the figures are medians. CPU is user and
system time of the whole process, from spawn to its exit at the end of the input, which follows the first answer.
Goals: at most 3.5 times the CPU of bare asyncio, and at least 3 times less than the SDK.
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
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.peer import HELLO, META, ROOT, line

# What a client says, and for how many answers it waits before the input ends.
OPENINGS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "server/discover": [{"id": 1, "method": "server/discover", "params": {"_meta": META}}],
    "initialize + tools/list": [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    ],
}


def start_once(command: Sequence[str], opening: Sequence[Mapping[str, object]]) -> tuple[float, float]:
    """CPU and wall milliseconds of one process; the wall time ends with the last answer, or with the process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for message in opening:
        process.stdin.write(line(message))
        process.stdin.flush()
        if "id" in message and b'"result"' not in process.stdout.readline():
            raise SystemExit(f"no answer from {command} to {message}")
    answered = time.perf_counter()
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    ended = answered if opening else time.perf_counter()
    return (usage.ru_utime + usage.ru_stime) * 1000, (ended - began) * 1000


def measure(sdk_python: str, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of all commands and openings, after one round that only warms the caches."""
    commands = {"ours": [sys.executable, "-m", "app"], "sdk": [sdk_python, "tests/bench/sdk_server.py"]}
    runs: dict[str, tuple[Sequence[str], Sequence[Mapping[str, object]]]] = {
        "bare asyncio": ([sys.executable, "-c", "import asyncio"], [])
    }
    for title, opening in OPENINGS.items():
        runs |= {f"{who}, {title}": (command, opening) for who, command in commands.items()}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, (command, opening) in runs.items():
            taken[name].append(start_once(command, opening))
    return {
        name: {
            "cpu_ms": statistics.median(cpu for cpu, _ in times[1:]),
            "wall_ms": statistics.median(wall for _, wall in times[1:]),
        }
        for name, times in taken.items()
    }


def ratios(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Of each opening: our CPU over that of bare asyncio, and the SDK's over ours."""
    bare = figures["bare asyncio"]["cpu_ms"]
    return {
        name: value
        for title in OPENINGS
        for name, value in {
            f"ours / bare asyncio, {title}": figures[f"ours, {title}"]["cpu_ms"] / bare,
            f"sdk / ours, {title}": figures[f"sdk, {title}"]["cpu_ms"] / figures[f"ours, {title}"]["cpu_ms"],
        }.items()
    }


def main() -> None:
    """Measure and print, for a person or as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sdk-python", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["PLINTH_DATA_DIR"] = directory
        figures = measure(options.sdk_python, options.rounds)
    answer = {"python": sys.version.split()[0], "figures": figures, "ratios": ratios(figures)}
    if options.json:
        print(json.dumps(answer))
        return
    for name, times in figures.items():
        print(f"{name:32} CPU {times['cpu_ms']:7.1f} ms   wall {times['wall_ms']:7.1f} ms")
    for name, ratio in ratios(figures).items():
        print(f"{name:48} {ratio:5.2f}")


if __name__ == "__main__":
    main()
