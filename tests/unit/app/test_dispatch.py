"""From a line to a line: answers, errors, cancellation, progress, and the log line of each call."""

from __future__ import annotations

import asyncio
import json
import os
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from app.clock import SystemClock
from app.dispatch import CALLS_AT_MOST, HELD_BYTES_AT_MOST, Dispatcher
from app.errors import StoreError, ToolError
from app.mcp.catalog import Identity, ToolFace
from app.mcp.events import Send
from app.mcp.peer import Peer
from app.redact import Redactor
from app.telemetry import Journal
from app.tools.tool import Context, Tool

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
Run = Callable[[Any, Mapping[str, Any], Context], Awaitable[dict[str, Any]]]


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    url: str = ""


class Conversation:
    """A dispatcher of one tool, and what it sent."""

    def __init__(self, run: Run) -> None:
        tool = Tool("facts.try", "Try", "Tries.", Params, {"type": "object"}, {}, run)
        face = ToolFace(
            name="facts.try",
            wire_name="facts_try",
            title="Try",
            description="Tries.",
            input_schema=tool.input_schema(),
            output_schema=tool.output_schema(),
            annotations={},
        )
        peer = Peer(Identity("facts-mcp", "0"), [face])
        self.lines: list[dict[str, Any]] = []
        redactor, clock = Redactor(b"k" * 32), SystemClock()
        self._log = os.memfd_create("log")
        self._journal = Journal(lambda: "now", redactor.text, "info", "json", self._log)
        weakref.finalize(self, forget, self._journal, self._log)
        self.dispatcher = Dispatcher(
            peer, {"facts.try": tool}, lambda: redactor, clock, self._journal, self._keep
        )

    def _keep(self, said: Send) -> None:
        self.lines.append(json.loads(said.line))

    def call(self, arguments: dict[str, Any], number: int = 1, **meta: Any) -> None:
        params = {"name": "facts_try", "arguments": arguments, "_meta": META | meta}
        self.say({"id": number, "method": "tools/call", "params": params})

    def cancel(self, number: int) -> None:
        self.say({"method": "notifications/cancelled", "params": {"requestId": number}})

    def say(self, message: dict[str, Any]) -> None:
        self.dispatcher.receive(json.dumps({"jsonrpc": "2.0"} | message).encode())

    def logged(self) -> dict[str, Any]:
        """The first line of the log."""
        self._journal.drain()
        line: dict[str, Any] = json.loads(os.pread(self._log, 1 << 20, 0).split(b"\n")[0])
        return line

    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = self.lines[-1]["result"]["structuredContent"]
        return content


def forget(journal: Journal, log: int) -> None:
    journal.drain()
    os.close(log)


async def echo(_params: Params, arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
    return {"ok": True, "arguments": arguments}


def raising(error: Exception) -> Run:
    async def run(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        raise error

    return run


def exchange(run: Run, arguments: dict[str, Any], **meta: Any) -> Conversation:
    async def go() -> Conversation:
        conversation = Conversation(run)
        conversation.call(arguments, **meta)
        await conversation.dispatcher.drain(5)
        return conversation

    return asyncio.run(go())


def test_a_call_is_answered_with_content_and_the_same_text() -> None:
    conversation = exchange(echo, {"url": "x"})

    result = conversation.lines[0]["result"]
    assert result["structuredContent"] == {"ok": True, "arguments": {"url": "x"}}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["isError"] is False


def test_a_malformed_argument_is_an_error_of_the_call() -> None:
    conversation = exchange(echo, {"uri": "x"})

    assert conversation.lines[0]["result"]["isError"] is True
    assert (conversation.content()["code"], conversation.content()["field"]) == ("invalid_arguments", "uri")


def test_a_tool_error_keeps_its_details() -> None:
    conversation = exchange(raising(ToolError("busy", "m", details={"running": 8})), {})

    assert conversation.content()["details"] == {"running": 8}


def test_a_storage_error_is_named_with_its_reason() -> None:
    conversation = exchange(raising(StoreError("no_space", "the disk is full")), {})

    assert (conversation.content()["code"], conversation.content()["reason_code"]) == (
        "storage_failed",
        "no_space",
    )


def test_a_fault_of_ours_is_an_internal_error_and_is_logged() -> None:
    conversation = exchange(raising(ValueError("odd")), {})

    assert conversation.content()["code"] == "internal_error"
    assert "odd" not in json.dumps(conversation.lines)
    assert "ValueError: odd" in conversation.logged()["message"]


def test_a_secret_of_the_arguments_is_not_quoted_by_an_error() -> None:
    url = "http://user:pa55-word-canary@127.0.0.1/"
    conversation = exchange(raising(ToolError("conflict", f"cannot: {url}")), {"url": url})

    assert "pa55-word-canary" not in json.dumps(conversation.lines)
    assert conversation.content()["message"].startswith("cannot: http://")


def test_each_call_leaves_one_line_with_its_outcome() -> None:
    conversation = exchange(echo, {}, traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

    facts = conversation.logged()
    assert (facts["tool"], facts["outcome"]) == ("facts.try", "ok")
    assert facts["trace"].startswith("00-0af7651916cd43dd")


def test_a_cancelled_call_is_stopped_and_not_answered() -> None:
    stopped = []

    async def wait(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
        return {"ok": False}

    async def go() -> Conversation:
        conversation = Conversation(wait)
        conversation.call({})
        await asyncio.sleep(0)
        conversation.cancel(1)
        await conversation.dispatcher.drain(5)
        return conversation

    conversation = asyncio.run(go())

    assert (conversation.lines, stopped) == ([], [True])
    assert conversation.logged()["outcome"] == "cancelled"


def test_at_the_end_a_running_call_is_cancelled_and_answered() -> None:
    async def wait(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def go() -> Conversation:
        conversation = Conversation(wait)
        conversation.call({})
        await asyncio.sleep(0)
        await conversation.dispatcher.drain(0)
        return conversation

    assert asyncio.run(go()).content()["code"] == "busy"


def test_more_calls_than_fit_are_refused_at_once_and_the_others_go_on() -> None:
    async def wait(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def go() -> list[dict[str, Any]]:
        conversation = Conversation(wait)
        for number in range(CALLS_AT_MOST + 2):
            conversation.call({}, number)
        refused = conversation.lines[:]
        await conversation.dispatcher.drain(0)
        return refused

    refused = asyncio.run(go())
    assert [line["id"] for line in refused] == [CALLS_AT_MOST, CALLS_AT_MOST + 1]
    assert refused[0]["result"]["structuredContent"]["code"] == "busy"


def test_calls_are_bounded_by_what_they_hold_but_one_always_fits() -> None:
    async def wait(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def go() -> int:
        conversation = Conversation(wait)
        for number in range(12):
            conversation.call({"url": "x" * (HELD_BYTES_AT_MOST // 10)}, number)
        refused = len(conversation.lines)
        await conversation.dispatcher.drain(0)
        return refused

    assert asyncio.run(go()) == 3


def test_a_trace_that_is_none_is_not_logged() -> None:
    conversation = exchange(echo, {}, traceparent="\x1b]0;owned\x07")

    assert "trace" not in conversation.logged()


def test_what_waits_for_the_end_of_something_else_is_given_up_at_the_second_asking() -> None:
    async def stubborn(_params: Params, _arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()
        return {}

    async def go() -> Conversation:
        conversation = Conversation(stubborn)
        conversation.call({})
        await asyncio.sleep(0)
        await conversation.dispatcher.drain(0)
        return conversation

    assert asyncio.run(go()).content()["code"] == "busy"


def test_progress_grows_and_is_not_sent_more_than_twenty_times_a_second() -> None:
    async def tell(_params: Params, _arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        for number in range(100):
            context.progress(f"step {number}")
        return {}

    conversation = exchange(tell, {}, progressToken="t")

    told = [line["params"] for line in conversation.lines if line.get("method") == "notifications/progress"]
    assert 1 <= len(told) < 10
    assert told[0] == {"progressToken": "t", "progress": 1, "message": "step 0"}


def test_without_a_token_no_progress_is_sent() -> None:
    async def tell(_params: Params, _arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        context.progress("step")
        return {}

    assert len(exchange(tell, {}).lines) == 1


def test_a_line_that_was_too_long_is_answered_with_its_id() -> None:
    conversation = Conversation(echo)

    conversation.dispatcher.oversize(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"')

    assert (conversation.lines[0]["id"], conversation.lines[0]["error"]["code"]) == (7, -32600)


def test_at_the_end_subscriptions_are_ended() -> None:
    conversation = Conversation(echo)
    params = {"notifications": {}, "_meta": META}
    conversation.say({"id": 3, "method": "subscriptions/listen", "params": params})

    conversation.dispatcher.close()

    assert [line.get("id") for line in conversation.lines if "result" in line] == [3]
