"""What all commands print in the same way."""

from __future__ import annotations

import json

from app.cli.output import as_json, told
from app.errors import ToolError


def test_json_is_for_reading_and_for_parsing() -> None:
    assert as_json({"a": "ü"}) == '{\n  "a": "ü"\n}\n'
    assert json.loads(as_json([1])) == [1]


def test_an_error_is_one_line_that_steers_no_terminal() -> None:
    assert told(ToolError("not_found", "no\x1b[2J\nid")) == "facts-mcp: not_found: no\\x1b[2J\\nid\n"
