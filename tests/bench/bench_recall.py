"""Queries over 10,000, 100,000 and 1,000,000 claims, beside a plain scan and the reference memory server.

Run from the checkout: `python tests/bench/bench_recall.py [--claims 10000 100000 1000000] [--queries 200]
[--memory-server INDEX_JS] [--directory DIR] [--json] [--check]`. INDEX_JS is the program of the npm package
`@modelcontextprotocol/server-memory`; it gets the same statements and is asked over stdio, as ours is, in turns.

Of each size: seconds until a server that finds the log alone has made its index, and until its pieces are brought
together, which goes on behind the answers; how much longer than on an empty
registry it takes from spawn to the end after one query, when the index is current; peak memory of the building
and of the querying server; bytes of the log and of the index; p50 and p99 of the queries in this process, the tool's
function without the wire. `--check` ends with an error where a goal is missed; goals are those of the largest size.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import msgspec

from app.clock import utc_text
from app.main import Application
from app.records.codec import body, line
from app.records.events import Asserted
from app.records.ulid import RANDOM_BITS, ulid_text
from app.settings import Settings
from app.tools.recall import find, tell
from app.tools.recall_arguments import HistoryArguments, QueryArguments
from tests.bench.peer import HELLO, Peer, call
from tests.bench.peer import line as message

WORDS = 20_000
COMMON = 200
TAGS, ASSERTERS, PORTS = 200, 20, 300
BEGAN_MS = 1_790_000_000_000
SCANS = 3
START_ROUNDS = 9
GOALS = {
    "start-up beside an empty registry, ms": 20.0,
    "p99 of filtered text queries, ms": 2.0,
    "p99 of history and by id, ms": 0.1,
    "peak memory of queries, MB": 150.0,
}
TIMES_MEMORY_SERVER = 1000.0


def word(number: int) -> str:
    """The word of this rank; words of low rank are frequent."""
    return f"w{number}" if number > COMMON else f"common{number}"


def claims(count: int) -> Iterator[tuple[str, bytes]]:
    """Statements of twelve words, as frequent as in text (Zipf), and their lines; every third cites a measurement."""
    chance = random.Random(1)  # noqa: S311 - made up data
    words = [word(number) for number in range(1, WORDS + 1)]
    weights = list(itertools.accumulate(1 / number for number in range(1, WORDS + 1)))
    for n in range(1, count + 1):
        statement = " ".join(chance.choices(words, cum_weights=weights, k=12))
        wall_ms = BEGAN_MS + n * 100
        at = utc_text(wall_ms * 1_000_000)
        evidence: list[dict[str, Any]] = []
        if n % 3 == 0:
            target = {"host": "127.0.0.1", "port": 1000 + n % PORTS}
            measured = {
                "type": "observation",
                "observation_id": f"o_{ulid_text(n)}",
                "observed_at": at,
                "tool": "facts.measure.http",
                "arguments": {"url": "http://127.0.0.1/"},
                "ok": True,
                "error": None,
                "data": {"kind": "http", "target": target, "http_status": 200},
            }
            evidence.append(measured)
        tags = [f"tag{chance.randrange(TAGS)}" for _ in range(chance.randrange(1, 4))]
        event = Asserted(statement, evidence, f"agent{chance.randrange(ASSERTERS)}", tags)
        yield statement, line(n, f"c_{ulid_text((wall_ms << RANDOM_BITS) | n)}", at, body(event))


def write(directory: Path, count: int) -> Path:
    """A data directory whose project `bench` has so many claims, with the same beside it for the memory server."""
    logs = directory / "data" / "projects" / "bench" / "logs"
    logs.mkdir(parents=True)
    (directory / "data").chmod(0o700)
    with (logs / "claims.jsonl").open("wb") as log, (directory / "memory.jsonl").open("w") as memory:
        for n, (statement, stored) in enumerate(claims(count)):
            log.write(stored)
            entity = {
                "type": "entity",
                "name": f"claim {n}",
                "entityType": "claim",
                "observations": [statement],
            }
            memory.write(json.dumps(entity) + "\n")
    return logs / "claims.jsonl"


class Shapes:
    """Arguments of the kinds of query that are timed, drawn at random."""

    def __init__(self) -> None:
        self._chance = random.Random(2)  # noqa: S311 - as above

    def text(self) -> str:
        """A word, its rank drawn evenly over the magnitudes: rare and frequent ones as often."""
        return word(max(1, int(WORDS ** self._chance.random())))

    def tag(self) -> str:
        return f"tag{self._chance.randrange(TAGS)}"

    def all(self) -> dict[str, Callable[[], dict[str, object]]]:
        """By name."""
        chance = self._chance
        return {
            "text": lambda: {"text": self.text()},
            "text and tag": lambda: {"text": self.text(), "tags": [self.tag()]},
            "text, tag and asserter": lambda: {
                "text": self.text(),
                "tags": [self.tag()],
                "observed_by": f"agent{chance.randrange(ASSERTERS)}",
            },
            "text by match": lambda: {"text": self.text(), "order": "match"},
            "phrase": lambda: {"text": f'"{self.text()} {self.text()}"'},
            "prefix": lambda: {"text": f"w{chance.randrange(100, 1000)}*"},
            "tag": lambda: {"tags": [self.tag()]},
            "target": lambda: {"target": f"127.0.0.1:{1000 + chance.randrange(PORTS)}"},
        }


def percentiles(work: Callable[[], object], times: int) -> dict[str, float]:
    """Median and 99th percentile of calls, in milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    return {"p50": taken[len(taken) // 2], "p99": taken[int(len(taken) * 0.99) - 1]}


def opened(data: Path) -> Application:
    """The recall tools in this process."""
    given = {"PLINTH_DATA_DIR": str(data), "PLINTH_FACTS_TOOLSETS": "recall"}
    return Application(Settings.model_validate(given))


def settle(data: Path) -> None:
    """Let the pieces of the text index that the build has left be brought together, as a server does."""
    application = opened(data)
    index = application.archive.registry.index("bench")
    index.catch_up()
    index.wait(3600)
    application.close()


def queries(data: Path, times: int) -> dict[str, dict[str, float]]:
    """Of each shape, of histories and of claims by id: the percentiles, after one that only warms up."""
    application = opened(data)
    archive = application.archive
    found = {}
    for name, shape in Shapes().all().items():

        def query(shape: Callable[[], dict[str, object]] = shape) -> object:
            return find(archive, msgspec.convert({"project": "bench", **shape()}, QueryArguments))

        query()
        found[name] = percentiles(query, times)
    newest = find(archive, QueryArguments(project="bench", limit=100))["claims"]
    ids = itertools.cycle([claim["claim_id"] for claim in newest])
    found["history"] = percentiles(
        lambda: tell(archive, HistoryArguments(project="bench", claim_id=next(ids))), times
    )
    found["by id"] = percentiles(lambda: archive.registry.claim("bench", next(ids)), times)
    application.close()
    return found


def ours(data: Path) -> Peer:
    """A server over this data directory."""
    return Peer(
        [sys.executable, "-m", "app"],
        b'"resultType":"complete"',
        {"PLINTH_DATA_DIR": str(data), "PLINTH_FACTS_TOOLSETS": "recall"},
    )


def question(arguments: Mapping[str, object]) -> bytes:
    """One query, as a line."""
    return call(1, "facts_recall_query", {"project": "bench", **arguments})


def build(data: Path) -> tuple[float, float]:
    """Seconds from spawn until a server with no index answers out of a whole one, and its peak memory."""
    server, began = ours(data), time.perf_counter()
    while server.ask(question({"limit": 1}))["result"]["structuredContent"]["index"]["state"] == "building":
        time.sleep(0.1)
    seconds, peak = time.perf_counter() - began, server.peak_rss()
    server.close()
    return seconds, peak


def later_start(data: Path, empty: Path, rounds: int) -> float:
    """How many milliseconds later a first query is answered than on an empty registry: from spawn, in turns."""
    taken: dict[Path, list[float]] = {data: [], empty: []}
    for _ in range(rounds + 1):
        for directory, times in taken.items():
            times.append(milliseconds(functools.partial(first_query, directory)))
    medians = {directory: statistics.median(times[1:]) for directory, times in taken.items()}
    return medians[data] - medians[empty]


def first_query(data: Path) -> None:
    """Start a server, ask it once and end it."""
    server = ours(data)
    answer = server.ask(question({"limit": 1}))
    server.close()
    if answer["result"].get("isError"):
        raise SystemExit(f"no answer: {answer}")


def scan(log: Path, text: str) -> float:
    """Milliseconds of the plainest way: read every line and look."""
    began = time.perf_counter()
    with log.open("rb") as lines:
        found = [claim for stored in lines if text in (claim := json.loads(stored))["statement"].split()]
    assert found is not None
    return (time.perf_counter() - began) * 1000


def over_stdio(directory: Path, log: Path, memory_server: str | None) -> dict[str, float]:
    """Milliseconds of the same searches over stdio, in turns, beside a plain scan; and peak memory of ours."""
    server = ours(directory / "data")
    other = None
    if memory_server is not None:
        environment = {"MEMORY_FILE_PATH": str(directory / "memory.jsonl")}
        other = Peer(["node", "--max-old-space-size=8192", memory_server], b'"result"', environment)
        other.ask(message({"id": 1, "method": "initialize", "params": HELLO}))
        other.send(message({"method": "notifications/initialized"}))
    for shape in Shapes().all().values():
        for _ in range(20):
            server.ask(question(shape()))
    taken: dict[str, list[float]] = {"ours": [], "scan": [], "memory server": []}
    for number in range(SCANS):
        text = word(WORDS // 2 + number)
        taken["ours"].append(milliseconds(functools.partial(server.ask, question({"text": text}))))
        taken["scan"].append(scan(log, text))
        if other is not None:
            search = {"name": "search_nodes", "arguments": {"query": text}}
            asked = message({"id": 2, "method": "tools/call", "params": search})
            taken["memory server"].append(milliseconds(functools.partial(other.ask, asked)))
    found = {name: statistics.median(times) for name, times in taken.items() if times}
    found["peak memory of queries, MB"] = server.peak_rss()
    server.close()
    if other is not None:
        found["peak memory of the memory server, MB"] = other.peak_rss()
        other.close()
    return found


def milliseconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def measure(directory: Path, count: int, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one size."""
    log = write(directory, count)
    data = directory / "data"
    seconds, peak = build(data)
    settling = milliseconds(functools.partial(settle, data)) / 1000
    index = sum(file.stat().st_size for file in log.parents[1].glob("index*"))
    empty = directory / "empty"
    empty.mkdir(mode=0o700)
    return {
        "claims": count,
        "build, s": seconds,
        "pieces brought together afterwards, s": settling,
        "peak memory of the build, MB": peak,
        "log, MB": log.stat().st_size / 1e6,
        "index, MB": index / 1e6,
        "start-up beside an empty registry, ms": later_start(data, empty, START_ROUNDS),
        "queries, ms": queries(data, options.queries),
        **over_stdio(directory, log, options.memory_server),
    }


def goals(figures: dict[str, Any]) -> dict[str, float]:
    """What the goals speak of."""
    times = figures["queries, ms"]
    held: dict[str, float] = {name: figures[name] for name in GOALS if name in figures}
    held["p99 of filtered text queries, ms"] = max(
        times[name]["p99"] for name in ("text and tag", "text, tag and asserter")
    )
    held["p99 of history and by id, ms"] = max(times[name]["p99"] for name in ("history", "by id"))
    return held


def missed(figures: dict[str, Any]) -> list[str]:
    """The goals that these figures miss, a sentence each."""
    found = [
        f"{name}: {value:.2f}, not {GOALS[name]:g}"
        for name, value in goals(figures).items()
        if value > GOALS[name]
    ]
    if "memory server" in figures:
        ratio = figures["memory server"] / figures["ours"]
        if ratio < TIMES_MEMORY_SERVER:
            found.append(f"{ratio:.0f} times as fast as the memory server, not {TIMES_MEMORY_SERVER:g}")
    return found


def show(figures: Mapping[str, Any]) -> None:
    """For a person."""
    print(f"{figures['claims']:,} claims")
    for name, value in figures.items():
        if isinstance(value, dict):
            for shape, times in value.items():
                print(f"  {shape:>38}: p50 {times['p50']:8.3f} ms   p99 {times['p99']:8.3f} ms")
        elif name != "claims":
            print(f"  {name:>38}: {value:12.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--memory-server", default=None)
    parser.add_argument("--directory", default=None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    results = []
    for count in options.claims:
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            results.append(measure(Path(directory), count, options))
        if not options.json:
            show(results[-1])
    if options.json:
        print(json.dumps({"python": sys.version.split()[0], "sizes": results}))
    if options.check and (sentences := missed(results[-1])):
        raise SystemExit("\n".join(sentences))


if __name__ == "__main__":
    main()
