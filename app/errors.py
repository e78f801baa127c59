"""Every exception raised on purpose, in one tree; each class says whose fault it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

ToolErrorCode = Literal[
    "invalid_arguments",
    "policy_denied",
    "rate_limited",
    "busy",
    "storage_failed",
    "not_found",
    "conflict",
    "internal_error",
]

HTTP_STATUS: Mapping[ToolErrorCode, int] = {
    "invalid_arguments": 400,
    "policy_denied": 403,
    "rate_limited": 429,
    "busy": 503,
    "storage_failed": 507,
    "not_found": 404,
    "conflict": 409,
    "internal_error": 500,
}

AGENT_ACTION: Mapping[ToolErrorCode, str] = {
    "invalid_arguments": "Correct the named argument and call again.",
    "policy_denied": "Do not retry. Only the operator can allow this target; details say what to configure.",
    "rate_limited": "Wait retry_after_seconds, then call again.",
    "busy": "Call again later, or with a longer timeout_ms.",
    "storage_failed": "Tell the operator: the data directory cannot be written.",
    "not_found": "Check the id.",
    "conflict": "Read what is stored, then decide.",
    "internal_error": "Report this to the operator; the log of the server has the details.",
}

RETRYABLE: frozenset[ToolErrorCode] = frozenset({"rate_limited", "busy"})

Phase = Literal["resolve", "connect", "tls", "send", "first_byte", "head", "body", "close", "limit", "cancel"]

ProbeErrorCode = Literal[
    "refused",
    "unreachable",
    "timeout",
    "reset",
    "closed_without_answer",
    "protocol_error",
    "truncated",
    "too_large",
    "tls_failed",
    "certificate_expired",
    "certificate_not_yet_valid",
    "certificate_self_signed",
    "certificate_unknown_issuer",
    "certificate_wrong_name",
    "certificate_invalid",
    "name_not_found",
    "resolver_failed",
    "self_connect",
    "rate_limited",
    "cancelled",
]

StoreReason = Literal[
    "no_space",
    "io",
    "locked",
    "locks_unavailable",
    "no_volume",
    "read_only",
    "permission",
    "symlink",
    "closed",
    "too_large",
]


class FactsError(Exception):
    """The root of the tree: an outcome that was foreseen."""


class RequestError(FactsError):
    """The message cannot be served: it becomes a JSON-RPC error with this code."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ToolError(FactsError):
    """The call cannot be done: it becomes a result with `isError: true` and this content."""

    def __init__(
        self,
        code: ToolErrorCode,
        message: str,
        *,
        field: str | None = None,
        reason_code: str | None = None,
        retry_after_seconds: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.reason_code = reason_code or ("bad_input" if code == "invalid_arguments" else None)
        self.retry_after_seconds = retry_after_seconds
        self.details = details

    def content(self) -> dict[str, Any]:
        """The structured content of every `isError` of every tool; absent parts are left out."""
        optional = {
            "field": self.field,
            "retry_after_seconds": self.retry_after_seconds,
            "reason_code": self.reason_code,
            "details": self.details,
        }
        return {
            "code": self.code,
            "message": self.message,
            "http_status": HTTP_STATUS[self.code],
            "retryable": self.code in RETRYABLE,
            "agent_action": AGENT_ACTION[self.code],
            **{name: value for name, value in optional.items() if value is not None},
        }


class PolicyRefused(ToolError):
    """The policy does not admit the target or a part of the request; `details` say what was judged."""

    def __init__(self, message: str, details: Mapping[str, Any]) -> None:
        reason_code = str(details["rule"]) if "rule" in details else None
        super().__init__("policy_denied", message, reason_code=reason_code, details=details)


class ProbeFailed(FactsError):
    """The target failed: never leaves a probe, becomes an observation with this error."""

    def __init__(
        self, phase: Phase, code: ProbeErrorCode, message: str, *, errno: int | None = None, **facts: Any
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.code = code
        self.message = message
        self.errno = errno
        self.facts = facts


class StoreError(FactsError):
    """Our own storage failed: nothing was acknowledged."""

    def __init__(self, reason: StoreReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class StartError(FactsError):
    """The server must not start; one line an error, for stderr."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
