"""What all commands print in the same way: JSON, and the error of a call."""

from __future__ import annotations

import json
from typing import Any

from app.cli.summary import printable
from app.errors import ToolError


def as_json(value: Any) -> str:
    """JSON to read and to parse."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def told(error: ToolError) -> str:
    """One line for stderr."""
    return f"facts-mcp: {error.code}: {printable(error.message)}\n"
