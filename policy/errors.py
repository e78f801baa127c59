"""The two exceptions of policy: a text that is no target, and settings that do not make a policy."""

from __future__ import annotations

from typing import Literal

ReasonCode = Literal[
    "bad_input", "bad_scheme", "bad_port", "ambiguous_host", "userinfo_not_allowed", "zone_id", "too_long"
]


class TargetError(ValueError):
    """A text names no target: `reason_code` is the rule that it breaks, `message` says what is expected.

    The message never quotes the text: what comes in may hold a password where nobody expects one.
    """

    def __init__(self, reason_code: ReasonCode, message: str) -> None:
        super().__init__(message)
        self.reason_code: ReasonCode = reason_code
        self.message = message


class PolicyError(ValueError):
    """The settings do not make a policy: `lines` has one line for each thing that is wrong."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
