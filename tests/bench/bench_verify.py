"""How fast `verify` walks a log, for short and long lines, beside one SHA-256 over the same bytes.

Run from the checkout: `python tests/bench/bench_verify.py [--json] [--megabytes 100] [--rounds 3] [--directory DIR]`.
The rounds are interleaved; figures are medians. Each line costs two hashes of its own and a look at its number, so
short lines are much slower than the hash over them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.records.codec import body, line
from app.records.events import Asserted
from app.records.ulid import ulid_text
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.verify import verify_project

SIZES = (400, 4_000, 64_000)


def log_of(directory: Path, size: int, total: int) -> Path:
    """A log of claims whose lines have about `size` bytes, with about `total` bytes in all."""
    path = directory / str(size) / "projects" / "p" / "logs" / "claims.jsonl"
    path.parent.mkdir(parents=True)
    event = body(Asserted("it answers", [{"type": "note", "text": "x" * (size - 200)}], "bench", ["http"]))
    with path.open("wb") as file:
        number = 0
        while file.tell() < total:
            number += 1
            file.write(line(number, f"c_{ulid_text(number)}", "2026-09-22T08:14:03.482119Z", event))
    return path


def verified(directory: Path) -> None:
    """All lines, none of them signed."""
    found = verify_project(DataDirectory(str(directory), Files()), Files(), "p", None)
    assert [each.faults for each in found] == [()]


def hashed(path: Path) -> None:
    """The bytes alone."""
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256")


def rate(work: Callable[[], None], size: int) -> float:
    """Megabytes a second."""
    began = time.perf_counter()
    work()
    return size / (time.perf_counter() - began) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None)
    options = parser.parse_args()
    rates: dict[int, dict[str, list[float]]] = {size: {"verify": [], "sha256": []} for size in SIZES}
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        directory = Path(place)
        paths = {size: log_of(directory, size, options.megabytes * 1_000_000) for size in SIZES}
        for _ in range(options.rounds):
            for size, path in paths.items():
                total = path.stat().st_size
                rates[size]["verify"].append(rate(partial(verified, directory / str(size)), total))
                rates[size]["sha256"].append(rate(partial(hashed, path), total))
    figures = {
        str(size): {what: round(statistics.median(found), 1) for what, found in one.items()}
        for size, one in rates.items()
    }
    if options.json:
        print(json.dumps({"megabytes_per_second": figures}))
        return
    for name, one in figures.items():
        print(
            f"lines of {name:>6} bytes: verify {one['verify']:7.1f} MB/s, one hash {one['sha256']:7.1f} MB/s"
        )


if __name__ == "__main__":
    main()
