"""Names of projects: one canonical form, safe as the name of a directory."""

from __future__ import annotations

import pytest

from app.records.names import BadProjectName, check_project, is_project, normalise_project


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("checkout", "checkout", id="a canonical name stays"),
        pytest.param("  Check Out\t", "check-out", id="trimmed, lower case, white space becomes a hyphen"),
        pytest.param("team/api \\ v2", "team-api-v2", id="separators become one hyphen"),
        pytest.param("a - b", "a-b", id="a spaced hyphen stays one hyphen"),
        pytest.param("a--b", "a--b", id="given hyphens are kept"),
        pytest.param("a\u00a0\u2003b\nc", "a-b-c", id="every kind of white space"),
        pytest.param("\u212a8s", "k8s", id="the Kelvin sign is a K under NFC"),
        pytest.param("...", "...", id="three dots are a name"),
        pytest.param("x" * 64, "x" * 64, id="64 characters"),
    ],
)
def test_a_name_is_normalised(text: str, name: str) -> None:
    assert normalise_project(text) == name


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(" \t ", id="only white space"),
        pytest.param(".", id="the directory itself"),
        pytest.param(" .. ", id="the directory above"),
        pytest.param("x" * 65, id="65 characters"),
        pytest.param("straße", id="a letter beyond a-z"),
        pytest.param("a\0b", id="a NUL"),
        pytest.param("a\ud800", id="a lone surrogate"),
        pytest.param("a\u200bb", id="a zero-width space"),
        pytest.param("a%2fb", id="an escaped separator"),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BadProjectName):
        normalise_project(text)


@pytest.mark.parametrize("name", ["", ".", "..", "A", "a/b", "../x", "x" * 65, "a b"])
def test_what_is_not_normalised_is_no_project(name: str) -> None:
    assert not is_project(name)
    with pytest.raises(BadProjectName):
        check_project(name)


def test_a_canonical_name_passes_the_check() -> None:
    check_project("a.b_c-1")

    assert is_project("a.b_c-1")
