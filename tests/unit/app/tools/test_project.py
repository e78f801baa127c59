"""The argument `project`: normalised for whoever misspells it, refused by its name where it is none."""

from __future__ import annotations

import pytest

from app.errors import ToolError
from app.tools.project import project_of


@pytest.mark.parametrize("text", ["check-out", " Check Out ", "CHECK/OUT", "check - out"])
def test_spellings_of_one_project_are_one_name(text: str) -> None:
    assert project_of(text) == "check-out"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a name of 1 to 64 characters"),
        ("..", "neither . nor .."),
        ("größe", "only a-z 0-9"),
        ("a" * 65, "at most 64 characters, not 65"),
    ],
)
def test_what_is_no_name_is_an_argument_error_that_says_why(text: str, why: str) -> None:
    with pytest.raises(ToolError, match=why) as refused:
        project_of(text)

    content = refused.value.content()
    assert (content["code"], content["field"], content["reason_code"]) == (
        "invalid_arguments",
        "project",
        "bad_input",
    )
    assert content["message"].startswith("project: ")
