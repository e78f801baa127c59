"""The official conformance suite over HTTP: `python -m tests.clients.suite --environments DIRECTORY`.

It runs once for each era against `python -m app`. What a server without fixtures cannot pass is listed in
`conformance/expected.<revision>.yml`; anything else that fails, and anything there that passes, is a fault.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients.run import HERE, node_of, served_over_http

REVISIONS = ("2026-07-28", "2025-11-25")
LIMIT_SECONDS = 300


def main() -> int:
    """Run the suite for each revision; the exit status is 1 if one of them found a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, required=True)
    options = parser.parse_args()
    environments = options.environments.resolve()
    program = environments / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    failed = 0
    with (
        tempfile.TemporaryDirectory() as name,
        served_over_http([sys.executable, "-m", "app"], Path(name)) as url,
    ):
        for revision in REVISIONS:
            expected = HERE / "conformance" / f"expected.{revision}.yml"
            command = [
                node_of(environments),
                str(program),
                "server",
                "--url",
                url.replace("127.0.0.1", "localhost"),
            ]
            command += ["--requirements", revision, "--expected-failures", str(expected), "-o", f"{name}/out"]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS)
            failed += bool(ended.returncode)
            print(
                *(
                    [f"FAILED {revision}", ended.stdout, ended.stderr]
                    if ended.returncode
                    else [f"ok {revision}"]
                )
            )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
