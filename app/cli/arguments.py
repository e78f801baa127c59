"""What several commands take: the project that somebody means."""

from __future__ import annotations

from app.errors import StartError
from app.records.names import BadProjectName, normalise_project


def project_named(text: str) -> str:
    """The project's name as it is stored; StartError says why the text is none."""
    try:
        return normalise_project(text)
    except BadProjectName as error:
        raise StartError(f"{text!r} is not the name of a project: {error}") from None
