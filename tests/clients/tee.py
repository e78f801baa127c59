"""Stands between a client and a server and keeps every line of both: `tee.py RECORD COMMAND…`.

The record has one JSON array a line: `["client" | "server", TEXT]`, in the order in which the lines passed here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO, TextIO


class Record:
    """The file of what passed; several threads write into it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lock = threading.Lock()

    def keep(self, who: str, line: bytes) -> None:
        """Write one line of `who`, at once: whoever reads the record may come after a kill."""
        with self._lock:
            self._file.write(json.dumps([who, line.decode(errors="backslashreplace")]) + "\n")
            self._file.flush()


def pass_on(record: Record, who: str, source: IO[bytes], sink: IO[bytes]) -> None:
    """Copy lines until the end of `source` or the loss of `sink`, then close `sink`."""
    try:
        for line in source:
            record.keep(who, line)
            sink.write(line)
            sink.flush()
        sink.close()
    except BrokenPipeError:
        return  # the other side has gone, which ends the conversation


def main(path: str, *command: str) -> int:
    """Run `command` with its standard input and output passed through the record at `path`."""
    with (
        open(path, "a", encoding="utf-8") as file,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        record = Record(file)
        upwards = (record, "client", sys.stdin.buffer, server.stdin)
        threading.Thread(target=pass_on, args=upwards, daemon=True).start()
        pass_on(record, "server", server.stdout, sys.stdout.buffer)
        return server.wait()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
