"""A session of fastmcp 4.x: connect, list, measure, call an unknown tool."""

from __future__ import annotations

import asyncio
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError, ToolError


async def converse(client: Client, target: str) -> str:
    """What happened to the unknown tool, once all other steps went as they should."""
    names = [tool.name for tool in await client.list_tools()]
    if "facts_measure_http" not in names:
        raise SystemExit(f"the tool is not listed: {names}")
    answer = await client.call_tool("facts_measure_http", {"project": "clients", "url": target})
    if answer.is_error or answer.structured_content["ok"] is not True:
        raise SystemExit(f"the measurement failed: {answer}")
    try:
        await client.call_tool("no_such_tool", {})
    except (McpError, ToolError) as error:
        return f"unknown tool: {type(error).__name__}"
    raise SystemExit("an unknown tool was answered as a success")


async def main(target: str, command: str, *arguments: str) -> None:
    """Measure `target` through the server that `command` starts."""
    server = StdioTransport(command=command, args=list(arguments), env=dict(os.environ))
    async with Client(server) as client:
        print(await converse(client, target))


asyncio.run(main(*sys.argv[1:]))
