"""The project that a command is about."""

from __future__ import annotations

import pytest

from app.cli.arguments import project_named
from app.errors import StartError


@pytest.mark.parametrize(("text", "name"), [("shop", "shop"), (" My Shop ", "my-shop"), ("A/B", "a-b")])
def test_a_project_is_named_as_calls_name_it(text: str, name: str) -> None:
    assert project_named(text) == name


@pytest.mark.parametrize("text", ["", "..", "ü", "x" * 65])
def test_what_is_no_name_is_bad_input_and_says_why(text: str) -> None:
    with pytest.raises(StartError, match="is not the name of a project: "):
        project_named(text)
