"""What several commands take: the project that somebody means."""

from __future__ import annotations

import os

from app.errors import StartError
from app.records.names import BadProjectName, normalise_project


def project_named(text: str) -> str:
    """The project's name as it is stored; StartError says why the text is none."""
    try:
        return normalise_project(text)
    except BadProjectName as error:
        raise StartError(f"{text!r} is not the name of a project: {error}") from None


def projects_of(data_dir: str) -> set[str]:
    """The names of all projects of a data directory."""
    try:
        with os.scandir(os.path.join(data_dir, "projects")) as entries:
            return {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
    except (FileNotFoundError, NotADirectoryError):
        return set()
