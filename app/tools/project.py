"""The argument that every tool of measuring and recall has: whose data it is about."""

from __future__ import annotations

from app.errors import ToolError
from app.records.names import BadProjectName, normalise_project


def project_of(text: str) -> str:
    """The normalised name, or `ToolError("invalid_arguments")` that says why the text is none."""
    try:
        return normalise_project(text)
    except BadProjectName as error:
        raise ToolError(
            "invalid_arguments", f"project: {error}", field="project", reason_code="bad_input"
        ) from None
