"""A session of fastmcp 4.x: connect, list, measure, recall, call an unknown tool."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import McpError, ToolError


async def recall(client: Client, observation_id: str) -> None:
    """Assert what was measured, find it, take it back, and read its history."""

    async def ask(tool: str, **arguments: Any) -> Any:
        answer = await client.call_tool(f"facts_recall_{tool}", {"project": "clients", **arguments})
        if answer.is_error:
            raise SystemExit(f"{tool} failed: {answer}")
        return answer.structured_content

    evidence = [{"type": "observation", "observation_id": observation_id}]
    claim = await ask(
        "assert", statement=f"seen in {observation_id}", observed_by="fastmcp", evidence=evidence
    )
    found = await ask("query", text=observation_id, observed_by="fastmcp")
    await ask("retract", claim_id=claim["claim_id"], reason="it was a trial")
    history = await ask("history", claim_id=claim["claim_id"])
    ids = [each["claim_id"] for each in found["claims"]]
    types = [each["event"]["type"] for each in history["events"]]
    if (ids, types) != ([claim["claim_id"]], ["asserted", "retracted"]):
        raise SystemExit(f"the claim was not kept: {found} {history}")


async def converse(client: Client, target: str) -> str:
    """What happened to the unknown tool, once all other steps went as they should."""
    names = [tool.name for tool in await client.list_tools()]
    if "facts_measure_http" not in names:
        raise SystemExit(f"the tool is not listed: {names}")
    answer = await client.call_tool("facts_measure_http", {"project": "clients", "url": target})
    if answer.is_error or answer.structured_content["ok"] is not True:
        raise SystemExit(f"the measurement failed: {answer}")
    await recall(client, answer.structured_content["observation_id"])
    try:
        await client.call_tool("no_such_tool", {})
    except (McpError, ToolError) as error:
        return f"unknown tool: {type(error).__name__}"
    raise SystemExit("an unknown tool was answered as a success")


async def main(target: str, command: str, *arguments: str) -> None:
    """Measure `target` through the server that `command` starts, or that serves at this URL."""
    server = StdioTransport(command=command, args=list(arguments), env=dict(os.environ))
    where = command if command.startswith("http") else server
    async with Client(where) as client:
        print(await converse(client, target))


asyncio.run(main(*sys.argv[1:]))
