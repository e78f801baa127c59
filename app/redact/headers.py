"""Headers whose value is a secret: as fields of a message, and as lines inside a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.names import PLAIN_WORDS, announced, is_ordinary, is_telling_header, names_no_secret
from app.redact.spans import Kind, Span

# Schemes of Authorization that are kept (IANA's registry and what else is met); an unknown first word may be a secret.
_SCHEMES = (
    r"(?:basic|bearer|digest|negotiate|ntlm|token|api-?key|hoba|mutual|vapid|dpop|gnap|privatetoken|concealed|hawk|oauth"
    r"|scram-sha-(?:1|256)|aws4-hmac-sha256|sso-key|sharedkey(?:lite)?|googlelogin|splunk|signature|jwt|hmac|bot|key)"
)

_COOKIE_ATTRIBUTES = frozenset(
    {
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "secure",
        "httponly",
        "partitioned",
        "priority",
        "version",
    }
)


@cache
def _scheme() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{_SCHEMES}(?:\s+|,|$))?", re.ASCII | re.IGNORECASE)


def header_kind(name: str) -> Kind | None:
    """What the value of a header of this name is; None when it is public or has to be scanned as text."""
    name_of = announced(name)
    if name_of is None:
        return "api-key" if is_telling_header(name) else None
    if name_of.code:
        return None
    return "api-key" if name_of.kind == "field" else name_of.kind


def value_secrets(kind: Kind, value: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The secret parts of a whole header value: after the scheme, the values of cookies, or all of it."""
    end = len(value) if end is None else end
    if kind in ("cookie", "set-cookie"):
        yield from _cookies(kind, value, start, end)
        return
    if kind in ("authorization", "proxy-authorization"):
        scheme = _scheme().match(value, start, end)
        start = scheme.end() if scheme else start
    yield from _trimmed(kind, value, start, end)


def _trimmed(kind: Kind, text: str, start: int, end: int) -> Iterator[Span]:
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    if inside.strip():
        yield Span(start, start + len(inside.strip()), kind)


def _cookies(kind: Kind, text: str, start: int, end: int) -> Iterator[Span]:
    first = True
    for part in _parts().finditer(text, start, end):
        name, equals, value = part[0].partition("=")
        if first or kind == "cookie" or name.strip().lower() not in _COOKIE_ATTRIBUTES:
            yield from _trimmed(kind, text, part.start() + len(name + equals) * bool(equals), part.end())
        else:
            # Several Set-Cookie joined by a comma: after `Path=/, ` the next cookie begins.
            joined = _joined().search(value)
            if joined:
                yield from _trimmed(kind, text, part.end() - len(value) + joined.end(), part.end())
        first = False


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(r"[^;]+")


@cache
def _joined() -> re.Pattern[str]:
    return re.compile(r",\s*[^=,;\s]+\s*=")


@cache
def _line() -> re.Pattern[str]:
    # The value ends with the line, with the quotation it stands in, or where `|`, `,` or `;` begins another header.
    another = r"\s{0,4}[A-Za-z][A-Za-z0-9-]{0,60}+\s?:"
    quoted_parameter = r"(?<=\w)=\"[^\"\r\n,;]*+\"(?=[,;\s]|$)"
    quotation_inside = r"(?!\\[rn])(?!(?P=quote))[\"'`\\]|(?<=\w)'(?=\w)"
    # A line may be folded after the scheme, or the token quoted there.
    folded = rf"[ \t]{{0,4}}\r?\n[ \t]{{1,8}}(?!{another})"
    opened = r"[ \t]{1,4}\"(?=[\w+/~.-][^\"\s]{2,}\")"
    scheme = rf"(?:[\w-]{{2,20}}+(?:{folded}|{opened}))?"
    return re.compile(
        r"(?P<quote>[\"'`]?)(?<![\w-])(?P<name>(?:x-[a-z-]{1,20})?(?:proxy-)?authorization|(?:set-)?cookie2?)"
        r"[ \t]{0,4}[:=](?!=)[ \t]{0,8}"
        rf"(?P<value>{scheme}(?:[^\r\n\"'`\\|,;=]++|[|,;](?!{another})|{quoted_parameter}|=|{quotation_inside})*)",
        re.ASCII | re.IGNORECASE,
    )


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[^\s\"'`]+")


def header_lines(text: str) -> Iterator[Span]:
    """Authorization and cookie headers that stand in a text as `name: value`, one a line or joined by `|`."""
    lowered = text.lower()
    if "authorization" not in lowered and "cookie" not in lowered:
        return
    for found in _line().finditer(text):
        kind = header_kind(found["name"])
        if kind in ("cookie", "set-cookie"):
            plain = names_no_secret(found["value"].strip())
            if not plain and ("=" in found["value"] or len(found["value"].split()) == 1):
                yield from _cookies(kind, text, found.start("value"), found.end("value"))
        elif kind is not None:
            yield from _credentials(kind, text, found.start("value"), found.end("value"))


def _credentials(kind: Kind, text: str, start: int, end: int) -> Iterator[Span]:
    """What follows Authorization in a line of text, which may be credentials or a sentence about them."""
    scheme = _scheme().match(text, start, end)
    after = scheme.end() if scheme else start
    if "=" in text[after:end].split(" ", 1)[0].rstrip("=") and text[start:after].strip():
        yield from _trimmed(kind, text, after, end)
        return
    words = list(_words().finditer(text, after, end))
    alone = len(words) <= (1 if after > start else 2)
    for word in words[:2] if after == start else words[:1]:
        if not is_ordinary(word[0]) or (alone and not _is_plain(word[0])):
            yield Span(word.start(), word.end(), kind)


def _is_plain(word: str) -> bool:
    return word.strip(".,;:!?").lower() in PLAIN_WORDS
