"""Tries the server with clients that others maintain: `python -m tests.clients.run --environments DIRECTORY`.

Each client measures a loopback server through `python -m app`, over stdio and over HTTP; every line that the server
wrote over stdio is then judged by the official types. One line a client; the exit status is 1 if any of them failed.
`.ci/clients` builds what the directory must hold: an environment for each client, named like its folder here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.clients import wire

HERE = Path(__file__).parent
LIMIT_SECONDS = 120
INSPECTOR_TOOL_ERROR = 5  # its exit status for a tool that failed or is not there


@dataclass(frozen=True)
class Trial:
    """One client: its name, and the command that measures `target` through `server` with it."""

    name: str
    command: Callable[[str, Sequence[str]], Sequence[str]]
    exit_status: int = 0


class Page(BaseHTTPRequestHandler):
    """Answers every GET with one small JSON document."""

    def do_GET(self) -> None:
        body = b'{"ready": true}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_said: object) -> None:
        """Say nothing: the output has one line a client."""


@contextmanager
def served_page() -> Iterator[str]:
    """The URL of a loopback server that lives as long as the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def python_trial(environments: Path, client: str, *mode: str) -> Trial:
    """A client in Python, in the virtual environment of its name."""
    python, driver = environments / client / "bin" / "python", HERE / client / "driver.py"
    return Trial(
        " ".join([client, *mode]), lambda target, server: [str(python), str(driver), *mode, target, *server]
    )


def node_trial(environments: Path, client: str, *mode: str) -> Trial:
    """A client in JavaScript; its driver is copied beside its packages, where Node looks for them."""
    driver = environments / client / "driver.mjs"
    if driver.parent.is_dir():
        shutil.copyfile(HERE / client / "driver.mjs", driver)
    node = node_of(environments)
    return Trial(
        " ".join([client, *mode]), lambda target, server: [node, str(driver), *mode, target, *server]
    )


def inspector_trial(environments: Path, name: str, *arguments: str, exit_status: int = 0) -> Trial:
    """One command of the Inspector, without its page; each command is a session of its own."""
    program = (
        environments
        / "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    )

    def command(target: str, server: Sequence[str]) -> list[str]:
        given = [argument.format(target=target) for argument in arguments]
        over_http = ["--transport", "http"] if server[0].startswith("http") else []
        return [node_of(environments), str(program), "--cli", *server, *over_http, "--format", "json", *given]

    return Trial(f"inspector {name}", command, exit_status)


def node_of(environments: Path) -> str:
    """The Node of the Inspector's environment, which asks for a newer one than machines have; else the machine's."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "none")
    node = environments / f"inspector/node_modules/node-linux-{machine}/bin/node"
    return str(node) if node.exists() else "node"


def trials(environments: Path) -> list[Trial]:
    """Every client, in the order in which they run."""
    call = ["--method", "tools/call", "--tool-name"]
    measured = [*call, "facts_measure_http", "--tool-arg", "project=clients", "url={target}"]
    claim = ["project=clients", "statement=seen by the inspector", "observed_by=inspector"]
    asserted = [*call, "facts_recall_assert", "--tool-arg", *claim]
    queried = [*call, "facts_recall_query", "--tool-arg", "project=clients", "observed_by=inspector"]
    return [
        *[python_trial(environments, "mcp2", mode) for mode in ("auto", "legacy", "2026-07-28")],
        python_trial(environments, "mcp1"),
        python_trial(environments, "fastmcp"),
        *[node_trial(environments, "client2", mode) for mode in ("auto", "legacy", "2026-07-28")],
        node_trial(environments, "sdk1"),
        inspector_trial(environments, "list", "--method", "tools/list"),
        inspector_trial(environments, "call", *measured),
        inspector_trial(environments, "assert", *asserted),
        inspector_trial(environments, "query", *queried),
        inspector_trial(environments, "unknown", *call, "no_such_tool", exit_status=INSPECTOR_TOOL_ERROR),
        Trial("raw", lambda target, server: [sys.executable, str(HERE / "raw.py"), target, *server]),
    ]


def settings(folder: Path) -> dict[str, str]:
    """The environment of a server and of its clients."""
    return {**os.environ, "PLINTH_DATA_DIR": str(folder / "data"), "PLINTH_FACTS_NET_PROFILE": "loopback"}


@contextmanager
def served_over_http(server: Sequence[str], folder: Path) -> Iterator[str]:
    """The URL of a server that lives as long as the block, over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    more = {"PLINTH_FACTS_TRANSPORT": "http", "PLINTH_FACTS_LISTEN": f"127.0.0.1:{port}"}
    with subprocess.Popen(
        server, env={**settings(folder), **more}, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        while "listening" not in running.stderr.readline():
            if running.poll() is not None:
                raise SystemExit("the server does not listen")
        threading.Thread(target=running.stderr.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}/mcp"
        running.terminate()
    if running.returncode:
        raise SystemExit(f"the server ended with exit status {running.returncode}")


def failures_of(trial: Trial, target: str, server: Sequence[str], folder: Path) -> tuple[list[str], str]:
    """What went wrong, and what the client said last; nothing went wrong if the first is empty.

    `server` is a command, whose wire is recorded and held against the schema, or a URL.
    """
    record = folder / f"{trial.name.replace('/', '-')}.jsonl"
    over_http = server[0].startswith("http")
    tee = [sys.executable, str(HERE / "tee.py"), str(record), *server]
    try:
        ended = subprocess.run(
            trial.command(target, server if over_http else tee),
            env=settings(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [str(error)], ""
    if ended.returncode != trial.exit_status:
        return [f"exit status {ended.returncode}", ended.stdout[-500:], ended.stderr[-1500:]], ""
    if over_http:
        return [], summary(ended.stdout)
    with open(record, encoding="utf-8") as lines:
        return list(wire.faults(lines)), summary(ended.stdout)


def summary(output: str) -> str:
    """The last line of a driver, or what the Inspector's document has in it."""
    if not output.startswith("{"):
        return output.strip().rpartition("\n")[2]
    document = json.loads(output)
    return ", ".join(document)


def main() -> int:
    """Run the trials that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--only", default="", help="run the clients whose name begins so")
    parser.add_argument("server", nargs="*", default=[sys.executable, "-m", "app"])
    options = parser.parse_args()
    failed = 0
    with (
        served_page() as target,
        tempfile.TemporaryDirectory() as name,
        served_over_http(options.server, Path(name)) as url,
    ):
        chosen = [
            each for each in trials(options.environments.resolve()) if each.name.startswith(options.only)
        ]
        for how, server in (("stdio", options.server), ("http", [url])):
            for trial in chosen:
                if how == "http" and trial.name == "raw":
                    continue  # it speaks in lines
                faults, said = failures_of(trial, target, server, Path(name))
                failed += bool(faults)
                about = f"{how} {trial.name}"
                verdict = [f"FAILED {about}", *faults] if faults else [f"ok {about}: {said}"]
                print(*verdict, sep="\n", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
