"""`facts-mcp` and `python -m app`: one entry point for both."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command of this process and exit with its status."""
    gc.disable()  # imports only add objects: collecting among them costs a tenth of the start
    from app.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
