"""The kinds of measurement, one module each; a kind is served because its module is here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from app.measure.kind import Kind

ORDER = ("http", "ws", "tls", "dns", "tcp", "udp", "icmp")


def kinds() -> tuple[Kind, ...]:
    """Every kind, in the order in which tools are listed; unknown names follow by name."""
    names = [module.name for module in iter_modules(__path__) if not module.ispkg and module.name != "kind"]
    found = [import_module(f"{__name__}.{name}").KIND for name in names]
    return tuple(sorted(found, key=lambda kind: (_place(kind.name), kind.name)))


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)
