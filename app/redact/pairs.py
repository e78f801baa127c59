"""Values that stand beside a sensitive name: `name=value`, `"name": "value"`, `name: value`, in any nesting.

A quoted value is masked whatever it is. A bare one is not when it is a word that says there is none (`token=null`), and
after a colon, where sentences also have one, it must look like a secret or be alone on its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.containers import container, inside, is_number
from app.redact.headers import value_secrets
from app.redact.names import Name, announced, is_code_word, is_ordinary, names_no_secret
from app.redact.spans import Span

# Anything that can contain a sensitive name; short texts and binary data without it are done at once.
_SEPARATORS = ("=", ":")

# How far left of a name its line may begin; list marks and indentation fit.
_MARGIN = 64
# What stands before a parameter: of a query, a fragment or a form, or nothing at its very beginning.
_BEFORE_PARAMETERS = ("", "?", "&", "#", ";", ",")
_LINE_ENDS = ("", "\n", "\r", "|", ",", ";", "}")


@cache
def _name() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w.%$\[\]+-])(?P<name>(?:(?:api|access|secret|private|auth)[ ])?[\w.%$\[\]+-]++)"
        r"(?P<closed>[\"'`]?)\s{0,8}(?P<separator>:=|=>|={1,3}|:(?!//))\s{0,8}(?P<open>[\"'`{\[]?)",
        re.ASCII | re.IGNORECASE,
    )


@cache
def _bare() -> re.Pattern[str]:
    # `,`, `;`, `|` and `#` belong to a value unless a space or another name follows them.
    return re.compile(r"(?:[^\s\"'<>&`,;|#]++|[,;|#](?![ \t]|[\w.%-]{1,64}+[=:]))+", re.ASCII)


@cache
def _bare_in_query() -> re.Pattern[str]:
    return re.compile(r"(?:[^\s\"'<>&`,;|#]++|[,;|](?![ \t]|[\w.%-]{1,64}+[=:]))+", re.ASCII)


@cache
def _quoted(quote: str) -> re.Pattern[str]:
    return re.compile(rf"{inside(quote)}(?={quote})", re.DOTALL)


def named_values(text: str) -> Iterator[Span]:
    """The values of all sensitive names in a text; it only goes forward, so its time grows with the text."""
    if not any(separator in text for separator in _SEPARATORS):
        return
    position = 0
    known: dict[str, Name | None] = {}  # the same few names come again and again
    while found := _name().search(text, position):
        position = found.end()
        if found["name"] not in known:
            known[found["name"]] = announced(found["name"])
        name = known[found["name"]]
        if name is not None:
            spans, position = _value(text, found, name)
            yield from spans


def _value(text: str, found: re.Match[str], name: Name) -> tuple[list[Span], int]:
    """The secrets of one value, and where to go on."""
    opened = found["open"]
    if not opened:
        block = _block().match(text, found.end()) if found["separator"] == ":" and not name.code else None
        if block:
            return list(value_secrets(name.kind, text, block.start("value"), block.end())), block.end()
        spans = list(_unquoted(text, found, name))
        return spans, spans[-1].end if spans else found.end()
    if name.code or (found["separator"] == "==" and opened in "[{"):
        return [], found.end()
    if opened in "[{":
        return container(text, found.end() - 1, name)
    closed = _quoted(opened).match(text, found.end())
    if closed and names_no_secret(closed[0]):
        return [], closed.end()
    # A string that a limit cut, or a stray quotation mark: to the end of the line.
    end = closed.end() if closed else _line_end(text, found.end())
    return list(value_secrets(name.kind, text, found.end(), end)), end


@cache
def _block() -> re.Pattern[str]:
    # YAML: the lines below that are indented as the first one.
    return re.compile(
        r"[|>][+-]?[ \t]*+\r?\n(?P<indent>[ \t]++)(?P<value>[^\r\n]++(?:\r?\n(?P=indent)[^\r\n]++)*)",
        re.ASCII,
    )


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _unquoted(text: str, found: re.Match[str], name: Name) -> Iterator[Span]:
    before = text[max(found.start() - 1, 0) : found.start()]
    in_form = found["separator"] == "=" and before in _BEFORE_PARAMETERS
    value = (_bare_in_query() if in_form and before in ("?", "&") else _bare()).match(text, found.end())
    bare = value[0].rstrip(",;.)]}") if value else ""
    end = found.end() + len(bare)
    if not bare or names_no_secret(bare) or (name.countable and is_number(bare)):
        return
    if _template().match(text, found.end()) or (found["name"].lower() == "pwd" and bare[0] in "/~"):
        return  # where the value will come from, or the working directory of a shell
    if name.code:
        doubtful = not in_form or is_code_word(bare)
    else:
        doubtful = _is_prose(found) and is_ordinary(bare) and not _is_alone(text, found.start(), end)
    if not doubtful and name.kind == "field":
        yield Span(found.end(), end, "parameter" if found["separator"] == "=" else "field")
    elif not doubtful:
        yield from value_secrets(name.kind, text, found.end(), end)


@cache
def _template() -> re.Pattern[str]:
    return re.compile(r"\$\{\w{1,64}\}|\$\(\w{1,64}\)|\{\{[ ]?[\w.]{1,64}[ ]?\}\}", re.ASCII)


def _is_prose(found: re.Match[str]) -> bool:
    """Whether a sentence could read so: a bare name, a colon, and no `x-` that makes it a header."""
    return found["separator"] == ":" and not found["closed"] and not found["name"].lower().startswith("x-")


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether nothing but the name and value from start to end stands on the line, list marks aside."""
    before = text[max(start - _MARGIN, 0) : start]
    _, line_begins, margin = ("\n" + before if start < _MARGIN else before).rpartition("\n")
    return bool(line_begins) and not margin.strip(" \t\r-*>|,;{}") and text[end : end + 1] in _LINE_ENDS
