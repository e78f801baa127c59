"""Servers killed with SIGKILL at random points of 2,000 asserts, one after another on one directory.

Run from the checkout: `python tests/bench/bench_crashes.py [--rounds 50] [--directory DIR]`. Each next start has to
serve all that was acknowledged and nothing half; the first that does not ends the run with an AssertionError.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def crashes() -> ModuleType:
    """The cases that the test suite runs with few rounds."""
    spec = spec_from_file_location("crashes", ROOT / "tests" / "cases" / "test_crashes.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50, help="how many servers are killed")
    parser.add_argument(
        "--directory", help="where the data directory is made; default: the usual temporary place"
    )
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        asserted = crashes().killed(Path(directory), options.rounds)
    seconds = time.perf_counter() - start
    print(
        f"{options.rounds} servers killed, {asserted} acknowledged claims, none lost or half, in {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
