"""A session that no library would hold: both eras on one pipe, and lines that cannot be read."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


def request(number: int, method: str, params: dict[str, Any] | None = None) -> str:
    """One request as a line without its end."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


def conversation(target: str) -> list[str]:
    """The lines to send; each is answered by exactly one line."""
    claim = {"project": "clients", "statement": "a claim of two eras", "observed_by": "raw"}
    asserted = {"name": "facts_recall_assert", "arguments": claim}
    queried = {"name": "facts_recall_query", "arguments": {"project": "clients", "text": "eras"}}
    unknown = {"name": "facts_recall_history", "arguments": {"project": "clients", "claim_id": "c_none"}}
    measure = {"name": "facts_measure_http", "arguments": {"project": "clients", "url": target}}
    return [
        "{broken",
        request(1, "initialize", HELLO),
        '{"jsonrpc": "2.0", "id": ',
        request(2, "tools/list"),
        request(3, "server/discover", {"_meta": META}),
        "\xff\ud83d",
        request(4, "tools/list", {"_meta": META}),
        request(5, "tools/call", measure),
        request(6, "tools/call", {**measure, "_meta": META}),
        request(7, "tools/call", {**measure, "arguments": {"project": "clients"}}),
        request(8, "ping"),
        request(9, "resources/list", {"_meta": META}),
        request(
            10, "tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}}
        ),
        request(11, "tools/call", asserted),
        request(12, "tools/call", {**asserted, "_meta": META}),
        request(13, "tools/call", queried),
        request(14, "tools/call", {**queried, "_meta": META}),
        request(15, "tools/call", unknown),
        request(16, "tools/call", {**unknown, "_meta": META}),
    ]


def main(target: str, *command: str) -> None:
    """Say each line, wait for its answer, and end with the end of the input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answers = 0
        for line in conversation(target):
            server.stdin.write(line.encode(errors="surrogatepass") + b"\n")
            server.stdin.flush()
            answers += bool(server.stdout.readline())
        rest, _ = server.communicate(timeout=20)
    if answers != len(conversation(target)) or rest or server.returncode:
        raise SystemExit(f"{answers} answers, then {rest!r}, exit status {server.returncode}")
    print(f"both eras, {answers} answers")


if __name__ == "__main__":
    main(*sys.argv[1:])
