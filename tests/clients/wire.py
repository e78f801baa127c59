"""Judges a recorded session: every line of the server against the official types of its revision."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema
from mcp_types import methods
from mcp_types._v2026_07_28 import JSONRPCErrorResponse  # no public type admits an error without an id
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCResponse
from pydantic import ValidationError
from referencing.exceptions import Unresolvable

MODERN = "2026-07-28"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
MODERN_ONLY = ("resultType", "ttlMs", "cacheScope")


class Session:
    """What one session has said so far: requests that wait, the revision agreed on, schemas of the tools."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, str | None, str | None]] = {}
        self._agreed: str | None = None
        self._schemas: dict[str, Any] = {}

    def hear_client(self, text: str) -> None:
        """Remember what a request asks for; what is not a request asks for nothing."""
        try:
            message = json.loads(text)
        except ValueError:
            return
        if isinstance(message, dict) and "method" in message and "id" in message:
            params = message.get("params") or {}
            revision = (params.get("_meta") or {}).get(META_VERSION)
            self._asked[repr(message["id"])] = (message["method"], revision, params.get("name"))

    def judge_server(self, text: str) -> None:
        """Raise `ValueError` (or a subclass of the types' own) unless the line is valid for its revision."""
        message = json.loads(text)
        if "method" in message:
            self._judge_notification(message)
        elif "error" in message:
            self._judge_error(message)
        else:
            self._judge_result(message)

    def _judge_notification(self, message: dict[str, Any]) -> None:
        JSONRPCNotification.model_validate(message, extra="forbid")
        params = message.get("params")
        tagged = "io.modelcontextprotocol/subscriptionId" in ((params or {}).get("_meta") or {})
        revision = MODERN if tagged or self._agreed is None else self._agreed
        methods.parse_server_notification(message["method"], revision, params)

    def _judge_error(self, message: dict[str, Any]) -> None:
        if "id" in message:
            JSONRPCError.model_validate(message, extra="forbid")
            self._take(message["id"])
        else:
            JSONRPCErrorResponse.model_validate(message)

    def _judge_result(self, message: dict[str, Any]) -> None:
        JSONRPCResponse.model_validate(message, extra="forbid")
        method, revision, tool = self._take(message["id"])
        result = message["result"]
        if method == "initialize":
            self._agreed = result["protocolVersion"]
        version = revision or self._agreed or "2025-11-25"
        methods.validate_server_result(method, version, result)
        if version != MODERN and (strays := [name for name in MODERN_ONLY if name in result]):
            raise ValueError(f"{version} knows no {strays}")
        if method == "tools/list":
            self._schemas = {entry["name"]: entry.get("outputSchema") for entry in result["tools"]}
        elif method == "tools/call" and self._schemas.get(tool or ""):
            jsonschema.validate(result["structuredContent"], self._schemas[tool or ""])

    def _take(self, request_id: Any) -> tuple[str, str | None, str | None]:
        if repr(request_id) not in self._asked:
            raise ValueError(f"nothing waits for an answer with id {request_id!r}")
        return self._asked.pop(repr(request_id))


def faults(record: Iterable[str]) -> Iterator[str]:
    """One text for each line of the server that is not valid, and one if the server said nothing."""
    session, spoken = Session(), 0
    for who, text in map(json.loads, record):
        if who == "client":
            session.hear_client(text)
            continue
        spoken += 1
        try:
            session.judge_server(text)
        except (ValueError, KeyError, jsonschema.ValidationError, ValidationError, Unresolvable) as error:
            yield f"{type(error).__name__}: {str(error)[:400]}\n  in {text[:400]}"
    if not spoken:
        yield "the server wrote no line"
