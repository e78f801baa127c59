"""A session of the official Python SDK 1.x: connect, list, measure, recall, call an unknown tool."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def recall(session: ClientSession, observation_id: str) -> None:
    """Assert what was measured, find it, take it back, and read its history."""

    async def ask(tool: str, **arguments: Any) -> Any:
        answer = await session.call_tool(f"facts_recall_{tool}", {"project": "clients", **arguments})
        if answer.isError:
            raise SystemExit(f"{tool} failed: {answer}")
        return answer.structuredContent

    evidence = [{"type": "observation", "observation_id": observation_id}]
    claim = await ask("assert", statement=f"seen in {observation_id}", observed_by="mcp1", evidence=evidence)
    found = await ask("query", text=observation_id, observed_by="mcp1")
    await ask("retract", claim_id=claim["claim_id"], reason="it was a trial")
    history = await ask("history", claim_id=claim["claim_id"])
    ids = [each["claim_id"] for each in found["claims"]]
    types = [each["event"]["type"] for each in history["events"]]
    if (ids, types) != ([claim["claim_id"]], ["asserted", "retracted"]):
        raise SystemExit(f"the claim was not kept: {found} {history}")


async def converse(session: ClientSession, target: str) -> str:
    """The revision that was agreed on, once all steps went as they should."""
    hello = await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    if "facts_measure_http" not in names:
        raise SystemExit(f"the tool is not listed: {names}")
    answer = await session.call_tool("facts_measure_http", {"project": "clients", "url": target})
    if answer.isError or answer.structuredContent["ok"] is not True:
        raise SystemExit(f"the measurement failed: {answer}")
    await recall(session, answer.structuredContent["observation_id"])
    try:
        unknown = await session.call_tool("no_such_tool", {})
    except McpError as error:
        return f"{hello.protocolVersion}, unknown tool: {error.error.code}"
    if not unknown.isError:
        raise SystemExit("an unknown tool was answered as a success")
    return f"{hello.protocolVersion}, unknown tool: isError"


async def main(target: str, command: str, *arguments: str) -> None:
    """Measure `target` through the server that `command` starts, or that serves at this URL."""
    if command.startswith("http"):
        async with (
            streamablehttp_client(command) as (reading, writing, _session_id),
            ClientSession(reading, writing) as session,
        ):
            print(await converse(session, target))
        return
    server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        print(await converse(session, target))


asyncio.run(main(*sys.argv[1:]))
