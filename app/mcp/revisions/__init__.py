"""The revisions that are served: each module `v<date>` beside this file holds one as `REVISION`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module

from app.mcp.revision import Revision


def load() -> Mapping[str, Revision]:
    """All revisions by their version, oldest first; a listing of the folder is cheaper than pkgutil."""
    names = {name.partition(".")[0] for name in os.listdir(os.path.dirname(__file__)) if name.startswith("v")}
    found: list[Revision] = [import_module(f"{__name__}.{name}").REVISION for name in sorted(names)]
    return {revision.version: revision for revision in found}
