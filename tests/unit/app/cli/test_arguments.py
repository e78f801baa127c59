"""The project that a command is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.arguments import project_named, projects_of
from app.errors import StartError


@pytest.mark.parametrize(("text", "name"), [("shop", "shop"), (" My Shop ", "my-shop"), ("A/B", "a-b")])
def test_a_project_is_named_as_calls_name_it(text: str, name: str) -> None:
    assert project_named(text) == name


@pytest.mark.parametrize("text", ["", "..", "ü", "x" * 65])
def test_what_is_no_name_is_bad_input_and_says_why(text: str) -> None:
    with pytest.raises(StartError, match="is not the name of a project: "):
        project_named(text)


def test_projects_are_the_directories_below_their_place(tmp_path: Path) -> None:
    (tmp_path / "projects/shop/logs").mkdir(parents=True)
    (tmp_path / "projects/file").write_text("")
    (tmp_path / "projects/link").symlink_to(tmp_path)

    assert projects_of(str(tmp_path)) == {"shop"}


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_where_there_are_none_there_are_none(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")

    assert projects_of(str(tmp_path / place)) == set()
