"""A session of the official Python SDK 1.x: connect, list, measure, call an unknown tool."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client


async def converse(session: ClientSession, target: str) -> str:
    """The revision that was agreed on, once all four steps went as they should."""
    hello = await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    if "facts_measure_http" not in names:
        raise SystemExit(f"the tool is not listed: {names}")
    answer = await session.call_tool("facts_measure_http", {"project": "clients", "url": target})
    if answer.isError or answer.structuredContent["ok"] is not True:
        raise SystemExit(f"the measurement failed: {answer}")
    try:
        unknown = await session.call_tool("no_such_tool", {})
    except McpError as error:
        return f"{hello.protocolVersion}, unknown tool: {error.error.code}"
    if not unknown.isError:
        raise SystemExit("an unknown tool was answered as a success")
    return f"{hello.protocolVersion}, unknown tool: isError"


async def main(target: str, command: str, *arguments: str) -> None:
    """Measure `target` through the server that `command` starts."""
    server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        print(await converse(session, target))


asyncio.run(main(*sys.argv[1:]))
