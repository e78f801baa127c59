"""The literal secrets in the arguments of one call, so that an echo of them is known for what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from app.redact.headers import header_kind, value_secrets
from app.redact.known import SHORTEST
from app.redact.names import PLAIN_WORDS, Name, announced, is_algorithm, is_only_a_name, is_ordinary
from app.redact.scan import secrets_of
from app.redact.shapes import basic_pair
from app.redact.spans import Kind, Span
from app.redact.urls import bare_userinfo
from app.redact.views import plain

# A field under these keys is a header, whose value may hold its secret among other things.
_HEADER_KEYS = frozenset({"headers", "trailers"})
_HEADER_KINDS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "api-key"})


def literal_secrets(arguments: Mapping[str, Any]) -> frozenset[str]:
    """Every secret of these arguments of at least six characters, as it was given and decoded."""
    return frozenset(secret for secret in _of_value(arguments, None) if _is_usable(secret))


def carry_secrets(headers: Mapping[str, str]) -> bool:
    """Whether the name or the value of a header says that it is a secret, however short."""
    return any(header_kind(name) is not None for name in headers) or bool(
        literal_secrets({"headers": headers})
    )


def _is_usable(secret: str) -> bool:
    """Some secrets would take a word out of every text."""
    return len(secret) >= SHORTEST and secret.lower() not in PLAIN_WORDS and not is_only_a_name(secret)


def _of_value(value: Any, name: Name | None) -> Iterator[str]:
    if isinstance(value, str):
        yield from _of_text(value, name.kind if name else None)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            fields = str(key).lower() in _HEADER_KEYS and isinstance(inner, Mapping)
            yield from _of_fields(inner, name) if fields else _of_entry(str(key), inner, name)
    elif isinstance(value, list | tuple):
        if len(value) == 2 and isinstance(value[0], str) and header_kind(value[0]):
            yield from _of_fields({value[0]: value[1]}, name)
        else:
            for inner in value:
                yield from _of_value(inner, name)
    elif name and isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _of_fields(fields: Mapping[Any, Any], outer: Name | None) -> Iterator[str]:
    for key, value in fields.items():
        kind = header_kind(str(key))
        yield from _of_value(value, Name(kind) if kind else outer)


def _of_entry(key: str, value: Any, outer: Name | None) -> Iterator[str]:
    name = outer or announced(key)
    yield from _of_value(value, None if name and name.code else name)


def _of_text(text: str, kind: Kind | None) -> Iterator[str]:
    def whole(view: str) -> Iterator[Span]:
        if kind:
            yield from value_secrets(kind, view)

    roles = (whole, bare_userinfo) if "://" in text[:16] else (whole,)
    for span in secrets_of(text, roles):
        secret = text[span.start : span.end]
        for spelling in (secret, plain(secret)):
            yield from _parts(spelling, span.kind)


def _parts(secret: str, kind: Kind) -> Iterator[str]:
    """The secret, and what may be printed of it alone: the password of a pair, the token after an unknown scheme."""
    if kind == "userinfo" and ":" in secret:
        yield secret.partition(":")[2]
        return
    yield secret
    if kind in _HEADER_KINDS:
        yield from _pieces(secret)
    if kind in ("authorization", "proxy-authorization"):
        pair = basic_pair(secret)
        if ":" in pair:
            yield pair
            yield pair.partition(":")[2]
        _, _, after_scheme = secret.partition(" ")
        yield after_scheme.strip()


@cache
def _public() -> re.Pattern[str]:
    # Parameters beside the secret whose values are in every answer: paths, names, times, what the target gave.
    return re.compile(
        r"(?<![\w-])(?:realm|uri|algorithm|qop|nc|c?nonce|opaque|user(?:name)?|(?:signed)?headers|created|expires|domain"
        r"|charset|key-?id|oauth_(?:version|signature_method|timestamp|nonce|callback|consumer_key))"
        r"\s*=\s*(?:\"[^\"]*+\"|[^\s,;\"&]*+)",
        re.ASCII | re.IGNORECASE,
    )


@cache
def _piece() -> re.Pattern[str]:
    text = r"[^=,;\s\"'`:&{}\[\]<>()]"
    return re.compile(rf"(?P<assigned>=[\"']?)?(?P<piece>{text}{{{SHORTEST},}}+)(?P<name>=(?![=,;\s&]|\Z))?")


def _pieces(value: str) -> Iterator[str]:
    """What a target may print of a header's value alone: parts between delimiters that are no names and no words."""
    for found in _piece().finditer(_public().sub(" ", value)):
        piece = found["piece"]
        if not found["name"] and not is_algorithm(piece) and (found["assigned"] or not is_ordinary(piece)):
            yield piece
