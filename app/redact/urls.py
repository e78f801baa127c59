"""User and password in URLs, wherever they stand in a text and however badly they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from app.redact.spans import OPAQUE, Span

# How far behind an authority the `@` of a password with raw slashes is looked for; keeps the search linear.
_REACH = 2048

# User names that are a convention and no secret.
_PUBLIC_USERS = frozenset({"git", "anonymous", "hg"})


@cache
def _authority() -> re.Pattern[str]:
    # After a scheme, where a backslash is as good as a slash to some, or after two slashes when there is a password.
    return re.compile(
        r"""(?<=:)[/\\]{2}[^\s/?#"'<>`\\]*+|(?<![\w:/])//(?=[^\s/?#"'<>`\\:@]*+:)[^\s/?#"'<>`\\]*+""",
        re.ASCII,
    )


@cache
def _rest() -> re.Pattern[str]:
    return re.compile(rf"""[^\s"'<>`]{{0,{_REACH}}}""")


@cache
def _host() -> re.Pattern[str]:
    return re.compile(r"""[^\s/?#"'<>`]*""")


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(
        r"\s*(?:[a-z][a-z0-9+.-]*+:[/\\]{2}|(?:https?|wss?|tcp|tls|udp):/?|//)?([^/?#]*)",
        re.ASCII | re.IGNORECASE,
    )


def userinfo(text: str) -> Iterator[Span]:
    """The part before the last `@` of every authority, raw `@`, `/`, `?` and `#` in a password included."""
    if "@" in text and ("//" in text or "\\" in text):
        for found in _authority().finditer(text):
            yield from _before_at_sign(text, found.start() + 2, found.end())


def bare_userinfo(text: str) -> Iterator[Span]:
    """The same for a whole text that should be a URL, even if it lacks its scheme or has spaces in its password."""
    found = _prefix().match(text)
    if found and "@" in text:
        yield from _before_at_sign(text, found.start(1), found.end(1))


def _before_at_sign(text: str, start: int, authority_end: int) -> Iterator[Span]:
    end = text.rfind("@", start, authority_end)
    if end < 0 and _is_broken(text[start:authority_end]):
        end = _late_at_sign(text, authority_end)
    if end > start and text[start:end] not in _PUBLIC_USERS:
        yield Span(start, end, "userinfo")


def _is_broken(authority: str) -> bool:
    """Whether something after a colon is no port: then it is the beginning of a password."""
    host, _, port = authority.rpartition(":")
    if not host or not port or host.startswith("[") or port.isdecimal():
        return False
    return OPAQUE not in port and not port.startswith(("$", "{"))  # a template's port is none yet


def _late_at_sign(text: str, position: int) -> int:
    rest = _rest().match(text, position)
    first = text.find("@", position, rest.end() if rest else position)
    host = _host().match(text, first) if first >= 0 else None
    return text.rfind("@", first, host.end()) if host else -1
