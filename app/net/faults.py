"""What an errno means to us: the one place where the errors of the kernel become ours."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from app.errors import Phase, ProbeErrorCode, ProbeFailed, ToolError

CODES: Mapping[int, ProbeErrorCode] = {
    errno.ECONNREFUSED: "refused",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNRESET: "reset",
    errno.ECONNABORTED: "reset",
    errno.EPIPE: "reset",
    errno.ENOTCONN: "reset",
    errno.EBADF: "reset",  # we closed it ourselves while something was still sending
    errno.EPROTO: "protocol_error",
}
"""Every other errno is `unreachable`: ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EACCES (a firewall) and so on."""

OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors that say nothing about the target: this machine has run out of something."""


def fault(phase: Phase, error: OSError) -> ProbeFailed | ToolError:
    """The error of ours for one of the kernel."""
    number = error.errno or 0
    message = f"{errno.errorcode.get(number, 'OSError')}: {os.strerror(number) if number else error}"
    if number in OURS:
        return ToolError(
            "busy", f"this machine has no room for a connection ({message})", reason_code="no_room"
        )
    return ProbeFailed(phase, CODES.get(number, "unreachable"), message, errno=number or None)
