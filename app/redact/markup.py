"""Secrets in forms and documents whose name and value are apart: HTML, XML, multipart, HAR, command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.headers import value_secrets
from app.redact.names import announced, is_ordinary
from app.redact.spans import Span


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return (
        # <input name="password" value="…">, <meta name="csrf-token" content="…">
        re.compile(
            r"(?:name|id)=[\"'](?P<name>[^\"'<>]{3,100})[\"'][^<>]{0,200}?\s(?:value|content)=(?P<quote>[\"'])"
            r"(?P<value>(?:(?!(?P=quote))[^<>])*)",
            re.ASCII | re.IGNORECASE,
        ),
        # <input value="…" name="password">
        re.compile(
            r"\s(?:value|content)=(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^<>])*)(?P=quote)[^<>]{0,200}?\s(?:name|id)="
            r"[\"'](?P<name>[^\"'<>]{3,100})[\"']",
            re.ASCII | re.IGNORECASE,
        ),
        # <password>…</password>
        re.compile(r"<(?P<name>[\w:.-]{3,100})(?:\s[^<>]{0,200})?>(?P<value>[^<]++)", re.ASCII),
        # Content-Disposition: form-data; name="password", an empty line, the value
        re.compile(
            r"form-data;(?:(?!\bname=)[^\r\n]){0,100}name=\"?(?P<name>[^\"\r\n;]{3,100}+)[^\r\n]{0,200}+"
            r"(?:\r?\n[^\r\n]{1,500}+){0,8}\r?\n\r?\n(?P<value>[^\r\n]++)"
        ),
        # {"name": "Authorization", "value": "…"}
        re.compile(
            r"[\"'](?:name|key)[\"']\s{0,8}:\s{0,8}[\"'](?P<name>[^\"'\r\n]{3,100})[\"']\s{0,8},\s{0,8}"
            r"[\"']value[\"']\s{0,8}:\s{0,8}(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^\\]|\\.)*)",
            re.ASCII | re.DOTALL | re.IGNORECASE,
        ),
        # {"value": "…", "name": "Authorization"}
        re.compile(
            r"[\"']value[\"']\s{0,8}:\s{0,8}(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)"
            r"\s{0,8},\s{0,8}[\"'](?:name|key)[\"']\s{0,8}:\s{0,8}[\"'](?P<name>[^\"'\r\n]{3,100})[\"']",
            re.ASCII | re.DOTALL | re.IGNORECASE,
        ),
    )


@cache
def _option() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w-])--(?P<name>[A-Za-z][\w-]{2,60}+)[ \t]+(?P<value>(?!-)[^\s\"'`]++)", re.ASCII
    )


@cache
def _curl_user() -> re.Pattern[str]:
    return re.compile(
        r"(?:\bcurl\s[^\r\n]{0,300}?(?<![\w-])(?:-[uU]|--user)|--proxy-user)[ \t=]{0,4}[\"']?[^\s:\"'`]{0,64}+"
        r":(?P<value>[^\s\"'`]++)",
        re.ASCII,
    )


def apart_values(text: str) -> Iterator[Span]:
    """The values of sensitive names that stand in another attribute, element, part or argument than their name."""
    for pattern in _forms():
        for found in pattern.finditer(text):
            name = announced(found["name"])
            if name is not None and not name.code:
                yield from value_secrets(name.kind, text, found.start("value"), found.end("value"))
    for found in _option().finditer(text):
        name = announced(found["name"])
        if name is not None and not name.code and not is_ordinary(found["value"]):
            yield Span(found.start("value"), found.end("value"), "parameter")
    for found in _curl_user().finditer(text):
        yield Span(found.start("value"), found.end("value"), "userinfo")
