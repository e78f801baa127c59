"""Errors of the kernel become ours in one place."""

from __future__ import annotations

import errno

import pytest

from app.errors import ProbeFailed, ToolError
from app.net.faults import OURS, fault


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ECONNREFUSED, "refused"),
        (errno.ETIMEDOUT, "timeout"),
        (errno.ECONNRESET, "reset"),
        (errno.EPIPE, "reset"),
        (errno.ENETUNREACH, "unreachable"),
        (errno.EHOSTUNREACH, "unreachable"),
        (errno.EADDRNOTAVAIL, "unreachable"),
        (errno.EACCES, "unreachable"),
        (errno.EPROTO, "protocol_error"),
    ],
)
def test_an_errno_has_one_code_and_is_kept(number: int, code: str) -> None:
    failed = fault("connect", OSError(number, "said by the kernel"))

    assert isinstance(failed, ProbeFailed)
    assert (failed.phase, failed.code, failed.errno) == ("connect", code, number)


def test_the_message_names_the_errno_in_both_forms() -> None:
    failed = fault("connect", OSError(errno.ECONNREFUSED, "x"))

    assert str(failed) == "ECONNREFUSED: Connection refused"


@pytest.mark.parametrize("number", sorted(OURS))
def test_running_out_of_something_is_not_the_fault_of_the_target(number: int) -> None:
    failed = fault("connect", OSError(number, "x"))

    assert isinstance(failed, ToolError)
    assert (failed.code, failed.reason_code) == ("busy", "no_room")


def test_an_error_without_an_errno_keeps_its_text() -> None:
    failed = fault("resolve", OSError("odd"))

    assert isinstance(failed, ProbeFailed)
    assert (failed.message, failed.errno) == ("OSError: odd", None)
