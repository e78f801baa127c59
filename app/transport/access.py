"""Who may call over HTTP: the names by which the server may be addressed, the pages that may ask, the bearer tokens.

All of it is judged before the body of a request is read. Nothing here is logged or told: a refused token least of all.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from app.errors import StartError

SCOPES: Final = ("measure", "recall", "memory", "query", "read")
"""The groups of tools; `read` admits those of all groups that change nothing."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
LEAST_TOKEN: Final = 16

_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+?)\.?(?::([0-9]{1,5}))?")
_ORIGIN: Final = re.compile(r"(https?)://([^/?#@\s]+)")
_BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")
_NAME: Final = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class Caller(NamedTuple):
    """Who is calling, by the name of the token, and what that one may ask for."""

    name: str
    scopes: frozenset[str]


class Gate(NamedTuple):
    """The `Host` and `Origin` values that pass; compared as a whole, never by their beginning."""

    hosts: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, hosts: Sequence[str], origins: Sequence[str]) -> Gate:
        """Loopback names pass always; an entry without a port passes with every port. StartError for what is none."""
        named = [_authority(text) for text in hosts]
        paged = [_origin(text) for text in origins]
        for text, found in (*zip(hosts, named, strict=True), *zip(origins, paged, strict=True)):
            if found is None:
                raise StartError(
                    f"{text!r} is not a name of a host, or not an origin such as https://name:port"
                )
        return cls(
            frozenset([*LOOPBACK_NAMES, *(each for each in named if each)]),
            frozenset(each for each in paged if each),
        )

    def admits_host(self, values: Sequence[str]) -> bool:
        """Whether a request with these `Host` headers may be for us."""
        return len(values) == 1 and self._is_listed(values[0])

    def admits_origin(self, values: Sequence[str]) -> bool:
        """Whether a page of this origin may ask; what is no page sends none."""
        if not values:
            return True
        origin = _origin(values[0]) if len(values) == 1 else None
        if origin is None:
            return False
        return origin in self.origins or _without_port(origin.partition("://")[2]) in LOOPBACK_NAMES

    def _is_listed(self, value: str) -> bool:
        found = _authority(value)
        return found is not None and (found in self.hosts or _without_port(found) in self.hosts)


class Tokens:
    """Bearer tokens, kept as hashes; looked up in the same time whichever it is."""

    def __init__(self, callers: Iterable[tuple[bytes, Caller]] = ()) -> None:
        self._callers = tuple(callers)

    @classmethod
    def parse(cls, text: str) -> Tokens:
        """Lines of `name scope[,scope] token`; blank ones and those after `#` are left out.

        StartError with the number of a line that is none; never with what stands in it.
        """
        callers: list[tuple[bytes, Caller]] = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            parts = line.split()
            scopes = frozenset(parts[1].split(",")) if len(parts) == 3 else frozenset()
            if len(parts) != 3 or not _NAME.fullmatch(parts[0]) or not scopes <= set(SCOPES):
                raise StartError(
                    f"line {number}: expected NAME SCOPE[,SCOPE] TOKEN, scopes of {', '.join(SCOPES)}"
                )
            if len(parts[2]) < LEAST_TOKEN or not _TOKEN.fullmatch(parts[2]):
                raise StartError(
                    f"line {number}: a token has at least {LEAST_TOKEN} of A-Z a-z 0-9 - . _ ~ + /"
                )
            digest = sha256(parts[2].encode()).digest()
            if any(hmac.compare_digest(digest, known) for known, _caller in callers):
                raise StartError(f"line {number}: this token stands there already")
            callers.append((digest, Caller(parts[0], scopes)))
        return cls(callers)

    def __len__(self) -> int:
        return len(self._callers)

    def caller(self, values: Sequence[str]) -> Caller | None:
        """Whose token is in these `Authorization` headers."""
        matched = _BEARER.fullmatch(values[0].strip()) if len(values) == 1 else None
        if matched is None:
            return None
        digest = sha256(matched[1].encode()).digest()
        found = None
        for known, caller in self._callers:
            if hmac.compare_digest(digest, known):
                found = caller
        return found


def _authority(text: str) -> str | None:
    """A host and a port in the one spelling that is compared; None for what is neither."""
    matched = _AUTHORITY.fullmatch(text)
    if matched is None:
        return None
    return matched[1].lower() + (f":{int(matched[2])}" if matched[2] else "")


def _without_port(authority: str) -> str:
    return re.sub(r":[0-9]+$", "", authority)


def _origin(text: str) -> str | None:
    matched = _ORIGIN.fullmatch(text)
    authority = _authority(matched[2]) if matched else None
    return f"{matched[1]}://{authority}" if matched and authority else None
