"""The tree of exceptions and the one shape of an error's content."""

from __future__ import annotations

from typing import get_args

from app.errors import AGENT_ACTION, HTTP_STATUS, PolicyRefused, StartError, ToolError, ToolErrorCode


def test_the_content_leaves_out_what_is_absent() -> None:
    assert ToolError("busy", "Eight run.").content() == {
        "code": "busy",
        "message": "Eight run.",
        "http_status": 503,
        "retryable": True,
        "agent_action": AGENT_ACTION["busy"],
    }


def test_the_content_names_the_field_and_the_finer_reason() -> None:
    error = ToolError(
        "rate_limited", "Too many.", field="url", reason_code="budget", retry_after_seconds=1.5, details={}
    )

    content = error.content()

    assert (content["field"], content["reason_code"], content["retry_after_seconds"]) == (
        "url",
        "budget",
        1.5,
    )
    assert content["details"] == {}


def test_every_code_has_a_status_and_an_action() -> None:
    codes = set(get_args(ToolErrorCode))

    assert set(HTTP_STATUS) == codes
    assert set(AGENT_ACTION) == codes


def test_a_refusal_gives_its_rule_as_the_reason() -> None:
    refused = PolicyRefused("no", {"rule": "never"})

    assert (refused.code, refused.reason_code) == ("policy_denied", "never")


def test_a_refused_start_has_one_line_an_error() -> None:
    assert StartError("a", "b").lines == ("a", "b")
