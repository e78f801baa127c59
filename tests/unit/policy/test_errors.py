"""The exceptions of policy carry what a caller needs to answer."""

from __future__ import annotations

from policy.errors import PolicyError, TargetError


def test_a_target_error_has_its_reason_and_its_message() -> None:
    error = TargetError("bad_port", "a port is needed")

    assert isinstance(error, ValueError)
    assert (error.reason_code, error.message, str(error)) == (
        "bad_port",
        "a port is needed",
        "a port is needed",
    )


def test_a_policy_error_has_a_line_for_each_fault() -> None:
    error = PolicyError(("one", "two"))

    assert isinstance(error, ValueError)
    assert (error.lines, str(error)) == (("one", "two"), "one\ntwo")
