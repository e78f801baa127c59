"""The names of projects: free text in, one canonical name out, which is also a safe name of a directory."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from app.errors import FactsError

MAX_LENGTH: Final = 64

_SEPARATORS: Final = re.compile(r"-*[\s/\\:|,;][-\s/\\:|,;]*")
_FOREIGN: Final = re.compile(r"[^a-z0-9._-]")


class BadProjectName(FactsError, ValueError):
    """The text cannot become a project's name; the message says why, for the caller."""


def normalise_project(text: str) -> str:
    """The canonical name: NFC, trimmed, lower case, each run of white space or of `/ \\ : | , ;` one `-`.

    The result has 1..64 characters of `[a-z0-9._-]` and is neither `.` nor `..`; normalising it again changes
    nothing. Everything else raises `BadProjectName`: letters are not dropped, for two names would become one.
    """
    if is_project(text):
        return text
    name = _SEPARATORS.sub("-", unicodedata.normalize("NFC", text).strip().lower())
    if not name:
        raise BadProjectName("a project needs a name of 1 to 64 characters")
    foreign = _FOREIGN.search(name)
    if foreign is not None:
        raise BadProjectName(f"a project's name has only a-z 0-9 . _ - in it, not {foreign.group()!a}")
    if len(name) > MAX_LENGTH:
        raise BadProjectName(f"a project's name has at most {MAX_LENGTH} characters, not {len(name)}")
    if name in {".", ".."}:
        raise BadProjectName("a project's name is neither . nor ..")
    return name


def is_project(name: str) -> bool:
    """Whether `name` is already what `normalise_project` returns."""
    return 0 < len(name) <= MAX_LENGTH and name not in {".", ".."} and _FOREIGN.search(name) is None


def check_project(name: str) -> None:
    """Raise `BadProjectName` unless the name is canonical: it becomes a part of a path."""
    if not is_project(name):
        raise BadProjectName(f"{name!r} is not the normalised name of a project")
