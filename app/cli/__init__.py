"""The commands of `facts-mcp`; without one it serves MCP over stdio, and nothing of this page is imported.

Exit status: 0 done, 1 refused by the policy, not observed, or found wrong, 2 bad input or settings.
"""

from __future__ import annotations

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
        from app.cli.commands import command

        return command(arguments, application)
    except StartError as error:
        for line in error.lines:
            sys.stderr.write(f"facts-mcp: {line}\n")
        return 2


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
