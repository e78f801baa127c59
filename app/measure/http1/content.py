"""The body as it is answered: undone codings, then a JSON value, text or base64, whichever says the most truly."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

from msgspec import Struct

from app.errors import ProbeFailed
from app.measure.http1.answer import Answer, Body
from app.measure.http1.charset import as_text, declared_charset
from app.measure.http1.coding import CHAIN_LIMIT, COUNT_LIMIT, Decoded, can_undo, codings_of, undo
from app.measure.http1.faithful import value_of

_TEXT_TYPES = frozenset(
    f"application/{name}"
    for name in (
        "graphql",
        "javascript",
        "json",
        "sql",
        "toml",
        "x-javascript",
        "x-www-form-urlencoded",
        "xml",
        "yaml",
    )
)
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_EMPTY = {"body": None, "body_encoding": None, "body_charset": None}


class Content(Struct, frozen=True):
    """The facts of a body, and what was wrong with its codings, if anything was."""

    facts: dict[str, Any]
    fault: ProbeFailed | None = None


def content_of(answer: Answer, limit: int) -> Content:
    """What an answer carried: at most `limit` decoded bytes as `body`, and length and hash of all of it."""
    codings = codings_of(answer.values(b"content-encoding"))
    body = answer.body
    if body is None or not body.received:
        return Content(_facts(codings, body, Decoded(), truncated=False) | _EMPTY)
    if not codings:
        plain = Decoded(body.copy[:limit], body.received, at_least=not answer.complete)
        return Content(_shown(answer, codings, body, plain))
    if len(codings) > CHAIN_LIMIT:
        fault = f"the body has {len(codings)} content codings, at most {CHAIN_LIMIT} are undone"
        return Content(_raw(codings, body, limit), ProbeFailed("body", "protocol_error", fault))
    if not can_undo(codings):
        return Content(_raw(codings, body, limit))
    return _undone(answer, codings, body, limit)


def _undone(answer: Answer, codings: list[str], body: Body, limit: int) -> Content:
    is_whole = answer.complete and len(body.copy) == body.received
    count = limit if answer.is_followed() else max(limit, COUNT_LIMIT)
    decoded = undo(bytes(body.copy), codings, keep=limit, count=count, is_whole=is_whole)
    chain = ", ".join(codings)
    if decoded.fault == "garbage":
        fault = ProbeFailed(
            "body", "protocol_error", f"the body is not what its content coding says ({chain})"
        )
        return Content(
            _shown(answer, codings, body, decoded) if decoded.kept else _raw(codings, body, limit), fault
        )
    if decoded.fault == "cut":
        message = f"the compressed body ends early ({chain})"
        fault = ProbeFailed("body", "truncated", message, received_bytes=body.received)
        return Content(_shown(answer, codings, body, decoded), fault)
    return Content(_shown(answer, codings, body, decoded))


def _shown(answer: Answer, codings: list[str], body: Body, decoded: Decoded) -> dict[str, Any]:
    truncated = decoded.total > len(decoded.kept) or len(body.copy) < body.received
    is_whole = answer.complete and not truncated and not decoded.at_least and decoded.fault is None
    types = answer.values(b"content-type")
    content_type = types[0].decode("latin-1") if types else ""
    presented = _presented(bytes(decoded.kept), content_type, is_whole=is_whole) if decoded.kept else _EMPTY
    return _facts(codings, body, decoded, truncated=truncated) | presented


def _raw(codings: list[str], body: Body, limit: int) -> dict[str, Any]:
    """The body still encoded: nobody here can read it, so that base64 is its only true form."""
    shown = bytes(body.copy[:limit])
    facts = _facts(codings, body, None, truncated=len(shown) < body.received)
    return facts | (_base64(shown) if shown else _EMPTY)


def _facts(
    codings: list[str], body: Body | None, decoded: Decoded | None, *, truncated: bool
) -> dict[str, Any]:
    return {
        "body_bytes": {
            "encoded": body.received if body else 0,
            "decoded": decoded.total if decoded else None,
            "decoded_at_least": decoded.at_least if decoded else False,
        },
        "body_sha256": body.digest.hexdigest() if body and body.digest else None,
        "content_encoding": codings,
        "truncated": truncated,
    }


def _presented(data: bytes, content_type: str, *, is_whole: bool) -> dict[str, Any]:
    essence = content_type.partition(";")[0].strip().lower()
    if is_whole and (not essence or essence.endswith(("/json", "+json"))):
        value = _json(data)
        if value is not None:
            return {"body": value[0], "body_encoding": "json", "body_charset": None}
    text = as_text(data, declared_charset(content_type), is_cut=not is_whole)
    if not _is_text_type(essence) and (text.replaced or _CONTROL.search(text.text)):
        return _base64(data)
    charset = {"name": text.name, "from": text.origin, "replaced": text.replaced}
    return {"body": text.text, "body_encoding": "text", "body_charset": charset}


def _is_text_type(essence: str) -> bool:
    return essence.startswith("text/") or essence in _TEXT_TYPES or essence.endswith(_TEXT_SUFFIXES)


def _json(data: bytes) -> tuple[Any] | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return value_of(text)


def _base64(data: bytes) -> dict[str, Any]:
    return {"body": b64encode(data).decode("ascii"), "body_encoding": "base64", "body_charset": None}
