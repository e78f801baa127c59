"""The least server that the official SDK 2.x lets one write: one tool over stdio that answers a constant."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(
    name="facts_measure_http",
    description="Answers a constant.",
    input_schema={
        "type": "object",
        "properties": {"project": {"type": "string"}, "url": {"type": "string"}},
        "required": ["project", "url"],
    },
)


async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """The one tool."""
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(_context: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
    """The constant."""
    text = types.TextContent(type="text", text='{"ok":true}')
    return types.CallToolResult(content=[text], structured_content={"ok": True})


async def main() -> None:
    """Serve until the input ends."""
    server: Any = Server("constant", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
