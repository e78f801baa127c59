"""Secrets out of one observation, place by place, before it is stored or answered."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from app.clock import utc_text
from app.errors import ToolError
from app.measure.kind import Outcome
from app.records.events import Measured
from app.redact import Known, Redactor, secrets_in_subprotocols

URLS = frozenset({"url", "input", "location", "resolved"})
HEADERS = frozenset({"headers", "trailers"})
PAYLOADS = frozenset({"messages", "sent", "send"})
EACH_PAYLOAD = 64
"""What the search of one message costs beside its length, in characters."""
_HEADER = re.compile(r"(?<=\n)(?=[^ \t\r\n][^\n:]*:|:|\r?\n)")
"""Where a header begins; a line without a colon does not end the one before, since a fold behind it belongs to that."""


def redacted(
    redactor: Redactor, tool: str, arguments: Mapping[str, Any], outcome: Outcome, wall_ns: int
) -> Measured:
    """The event to store: a secret of the arguments is masked wherever the target may have echoed it."""
    known = redactor.known(
        redactor.secrets_in(arguments)
        | _secrets_in_bytes(redactor, arguments)
        | secrets_in_subprotocols(arguments.get("subprotocols", ()))
    )
    return Measured(
        tool=tool,
        arguments=_clean(redactor, dict(arguments), known),
        observed_at=utc_text(wall_ns),
        ok=outcome.ok,
        error=_clean(redactor, outcome.error, known),
        data=_clean(redactor, outcome.data, known),
    )


def bulk_of(data: Mapping[str, Any]) -> int:
    """About how many characters of strangers the facts hold: what it costs to search them.

    A head is held twice, as it came and as fields.
    """
    hops = [data, *data.get("hops", ())]
    heads = sum(len((hop.get("raw_head") or {}).get("text", "")) for hop in hops)
    others = sum(len(str(hop.get(name) or "")) for hop in hops for name in ("trailers", "informational"))
    bodies = sum(len(str(hop.get("body", ""))) for hop in hops)
    payloads = [*data.get("messages", ()), *data.get("sent", ())]
    messages = sum(len(each.get("text") or each.get("base64") or "") for each in payloads)
    return 2 * heads + others + bodies + messages + EACH_PAYLOAD * len(payloads)


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
    if name in PAYLOADS and isinstance(value, list):
        return _payloads(redactor, value, known)
    if name == "raw_head" and value is not None:
        return {**value, "text": _raw_head(redactor, value["text"], known)}
    if name == "base64" and isinstance(value, str):
        return _bytes(redactor, value, known)
    if name == "body" and value is not None:
        return _body(redactor, value, node.get("body_encoding"), known)
    return _clean(redactor, value, known)


def _body(redactor: Redactor, value: Any, encoding: str | None, known: Known) -> Any:
    if encoding == "base64":
        return _bytes(redactor, value, known)
    return redactor.value(value, known)


def _payloads(redactor: Redactor, items: list[Any], known: Known) -> list[Any]:
    """Messages: their texts in one walk, since a private key may be spread over several, their bytes one by one.

    Of what stands beside them all is ours. There may be ten thousand.
    """
    texts = [item.get("text") if isinstance(item, dict) else item for item in items]
    clean = []
    for item, text in zip(items, redactor.value(texts, known), strict=True):
        if not isinstance(item, dict):
            clean.append(text)
        elif "base64" in item:
            clean.append({**item, "base64": _bytes(redactor, item["base64"], known)})
        else:
            clean.append({**item, "text": text} if "text" in item else item)
    return clean


def _secrets_in_bytes(redactor: Redactor, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The secrets in the binary messages of a call, as the target may print them."""
    items = arguments.get("send")
    if not isinstance(items, list):
        return frozenset()
    packed = [item["base64"] for item in items if isinstance(item, dict) and "base64" in item]
    texts = [data.decode("utf-8", "replace") for data in map(_unpacked, packed) if data]
    return redactor.secrets_in({"send": texts}) if texts else frozenset()


def _unpacked(text: str) -> bytes | None:
    """The bytes in base64; None where it is none."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return None


def _bytes(redactor: Redactor, text: str, known: Known) -> str:
    """Bytes in base64; what is none is searched as the text that it is."""
    data = _unpacked(text)
    if data is None:
        return redactor.text(text, known)
    return b64encode(redactor.body(data, known)).decode("ascii")


def _raw_head(redactor: Redactor, text: str, known: Known) -> str:
    """A head as it came, each header by its name; lines that continue one belong to its value."""
    clean = "".join(_raw_line(redactor, line, known) for line in _HEADER.split(text))
    # What is no head may hold what is longer than a line.
    return redactor.text(clean, known) if "PRIVATE KEY" in clean else clean


def _raw_line(redactor: Redactor, line: str, known: Known) -> str:
    name, colon, value = line.partition(":")
    if not colon or " " in name.strip():
        return redactor.text(line, known)  # a sentence with a colon is no header
    ((name, value),) = redactor.headers([[name, value]], known)
    return f"{name}:{value}"
