"""Secrets out of one observation, place by place, before it is stored or answered."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from app.clock import utc_text
from app.errors import ToolError
from app.measure.kind import Outcome
from app.records.events import Measured
from app.redact import Known, Redactor

URLS = frozenset({"url", "input", "location", "resolved"})
HEADERS = frozenset({"headers", "trailers"})


def redacted(
    redactor: Redactor, tool: str, arguments: Mapping[str, Any], outcome: Outcome, wall_ns: int
) -> Measured:
    """The event to store: a secret of the arguments is masked wherever the target may have echoed it."""
    known = redactor.known(redactor.secrets_in(arguments))
    return Measured(
        tool=tool,
        arguments=_clean(redactor, dict(arguments), known),
        observed_at=utc_text(wall_ns),
        ok=outcome.ok,
        error=_clean(redactor, outcome.error, known),
        data=_clean(redactor, outcome.data, known),
    )


def error_content(redactor: Redactor, error: ToolError, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an error. It quotes nothing but the arguments: without a secret in them it has none."""
    content = error.content()
    if redactor.may_hold(repr(arguments)):
        content = redactor.value(content, redactor.secrets_in(arguments))
    return content


def _clean(redactor: Redactor, node: Any, known: Known) -> Any:
    """Our own structure is walked by place; only what the target or the caller wrote is searched."""
    if isinstance(node, str):
        return redactor.text(node, known)
    if isinstance(node, list):
        return [_clean(redactor, item, known) for item in node]
    if isinstance(node, dict):
        return {name: _field(redactor, node, name, known) for name in node}
    return node


def _field(redactor: Redactor, node: Mapping[str, Any], name: str, known: Known) -> Any:
    value = node[name]
    if name in URLS and isinstance(value, str):
        return redactor.url(value, known)
    if name in HEADERS and value:
        pairs = [[key, item] for key, item in (value.items() if isinstance(value, dict) else value)]
        clean = redactor.headers(pairs, known)
        return dict(clean) if isinstance(value, dict) else clean
    if name == "body" and value is not None:
        return _body(redactor, value, node.get("body_encoding"), known)
    return _clean(redactor, value, known)


def _body(redactor: Redactor, value: Any, encoding: str | None, known: Known) -> Any:
    if encoding == "base64":
        return b64encode(redactor.body(b64decode(value), known)).decode("ascii")
    return redactor.value(value, known)
