"""An endpoint over HTTP in this process, and requests to it; the fixture `site` makes one."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from app.main import Application
from app.transport.connections import Limits

MODERN = {"MCP-Protocol-Version": "2026-07-28"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Answer:
    """The status, the headers and the body of a response; `messages` are those of a stream, or the one of JSON."""

    def __init__(self, response: HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def message(self) -> dict[str, Any]:
        return self.messages[-1]

    @property
    def messages(self) -> list[dict[str, Any]]:
        if self.headers.get_content_type() == "text/event-stream":
            lines = self.body.split(b"\n")
            return [json.loads(line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: ")]
        return [json.loads(self.body)] if self.body else []


class Site:
    """An endpoint on a free port of 127.0.0.1, in a thread with a loop of its own."""

    def __init__(self, application: Application, limits: Limits) -> None:
        self.application = application
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.server = self.run(self._begin(limits))

    async def _begin(self, limits: Limits) -> Any:
        server = self.application.http_server(limits)
        await server.listen([self._listening])
        return server

    def run(self, work: Any, seconds: float = 30) -> Any:
        """What a coroutine returns on the loop of the endpoint."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=20)

    def ask(
        self,
        body: Any = b"",
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
        path: str = "/mcp",
    ) -> Answer:
        """One request on a connection of its own; JSON in, both formats accepted, unless `headers` say otherwise."""
        given = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(headers or {}),
        }
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.connect()
        connection.request(method, path, data, given)
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def modern(
        self, method: str, params: Mapping[str, Any] | None = None, id_: Any = 1, **headers: str
    ) -> Answer:
        """A stateless request with the headers that belong to it."""
        told = {**(params or {}), "_meta": {**META, **(params or {}).get("_meta", {})}}
        named = {"Mcp-Name": told["name"]} if "name" in told else {}
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        request = {"jsonrpc": "2.0", "id": id_, "method": method, "params": told}
        return self.ask(request, {**MODERN, "Mcp-Method": method, **named, **more})

    def call(self, name: str, arguments: Mapping[str, Any], **headers: str) -> Answer:
        """A stateless call of a tool; the project is `p`."""
        return self.modern(
            "tools/call", {"name": name, "arguments": {"project": "p", **arguments}}, **headers
        )

    def legacy(self, method: str, params: Any = None, id_: Any = 1, **headers: str) -> Answer:
        """A request of the older era."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}, more)

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self.run(self.server.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self.application.close()
