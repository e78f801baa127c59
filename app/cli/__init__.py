"""The commands of `facts-mcp`; without one it serves MCP over stdio, and nothing of this page is imported.

Exit status: 0 done, 1 refused by the policy, not observed, or found wrong, 2 bad input or settings.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.errors import StartError

if TYPE_CHECKING:
    from app.main import Application


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        if not arguments:
            return serve()
        return _by_hand(arguments)
    except StartError as error:
        for line in error.lines:
            sys.stderr.write(f"facts-mcp: {line}\n")
        return 2
    except OSError as error:
        return _output_failed(error)


def _by_hand(arguments: Sequence[str]) -> int:
    from app.cli.commands import command

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # the terminal may know fewer characters
    status = command(arguments, application)
    sys.stdout.flush()
    return status


def _output_failed(error: OSError) -> int:
    """Nobody reads what a command prints, or it cannot be written: said once, and not again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"facts-mcp: the output cannot be written: {error.strerror}\n")
    return 1


def serve() -> int:
    """Serve MCP over stdio; the wire is claimed before anything is imported that might print."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)  # as PID 1 there is no default, and the start takes a moment
    from app.transport.stdio import claim

    wire = claim()
    return application().serve(wire)


def _leave(_number: int, _frame: object) -> None:
    """Nothing was asked yet, so nothing is lost."""
    sys.exit(0)


def application() -> Application:
    """The application as the environment sets it."""
    from app.main import Application
    from app.settings import read_settings

    return Application(read_settings())
