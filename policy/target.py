"""Text becomes a target once: URL or host:port in, a frozen value or `TargetError` out; refuse, never repair.

The rules of this file:
- Whitespace, control characters, backslashes and user information are refused anywhere; nothing is stripped.
- A port is one to five digits without a leading zero, 1 to 65535; it is never guessed for an unknown scheme.
- The text is rebuilt from its parts, and a second parser (yarl) must read the same scheme, host and port in it.
- Messages never quote the text: it may hold secrets.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from policy.errors import TargetError
from policy.host import Host, parse_host
from policy.table import IPAddress

if TYPE_CHECKING:
    from yarl import URL

LONGEST_URL: Final = 8192
HTTP_SCHEMES: Final = ("http", "https")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
# What is never part of a target: whitespace, control characters, the backslash, lone surrogates.
_NEVER: Final = r"\s\x00-\x1f\x7f-\x9f\\\ud800-\udfff"
_REFUSED: Final = re.compile(f"[{_NEVER}]")
_PORT: Final = re.compile("[1-9][0-9]{0,4}", re.ASCII)
_HOST: Final = rf"(\[[^{_NEVER}/?#@\[\]]*\]|[^{_NEVER}/?#@\[\]:]*)"
_URL: Final = re.compile(
    rf"([A-Za-z][A-Za-z0-9+.-]*)://{_HOST}(?::([1-9][0-9]{{0,4}}))?((?:[/?][^{_NEVER}#]*)?)(?:#[^{_NEVER}]*)?"
)
_HOST_PORT: Final = re.compile(rf"{_HOST}:([1-9][0-9]{{0,4}})")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# RFC 3986, appendix B.
_REFERENCE: Final = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host and a port: an allowlist entry, or the target of the kinds that have no URL."""

    host: str
    port: int
    address: IPAddress | None
    trailing_dot: bool = False

    @property
    def key(self) -> str:
        """`host:port` as it is compared and counted: no trailing dot, IPv6 in brackets."""
        return host_port_text(self.host, self.port)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL as it will be asked for: `host` is compared, `path` (with its query) is sent byte for byte.

    `host` is lower-case A-labels without the trailing dot, or an address in canonical text without brackets;
    `address` is the literal as it was written (an IPv4-mapped one stays IPv6), None for a name.
    """

    scheme: str
    host: str
    port: int
    path: str
    trailing_dot: bool
    address: IPAddress | None

    @property
    def authority(self) -> str:
        """The value of the Host header: brackets, the trailing dot if one was given, no default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        dot = "." if self.trailing_dot else ""
        port = "" if self.port == _DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{host}{dot}{port}"

    @property
    def url(self) -> str:
        """The canonical text; parsing it gives this target again."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def key(self) -> str:
        """`host:port` as it is compared and counted: no trailing dot, IPv6 in brackets."""
        return host_port_text(self.host, self.port)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host as it is sent, and port: what credentials are bound to (RFC 6454)."""
        return self.scheme, f"{self.host}." if self.trailing_dot else self.host, self.port


def parse_url(text: str, schemes: Collection[str] = HTTP_SCHEMES) -> Target:
    """The target of an absolute URL of one of the schemes; a fragment is dropped; else `TargetError`."""
    match = _URL.fullmatch(text) if len(text) <= LONGEST_URL else None
    if match is None:
        raise _why_no_url(text, schemes)
    scheme_text, host_text, port_text, rest = match.groups()
    scheme = scheme_text.lower()
    if scheme not in schemes:
        raise _bad_scheme(schemes)
    host = parse_host(host_text)
    port = _DEFAULT_PORTS.get(scheme, 0) if port_text is None else int(port_text)
    if not 1 <= port <= 65535:
        raise _bad_port()
    target = Target(scheme, host.name, port, _path(rest), host.trailing_dot, host.address)
    _agree(target)
    return target


def join_url(base: Target, location: str, schemes: Collection[str] = HTTP_SCHEMES) -> Target:
    """The target that a `Location` names, seen from `base` (RFC 3986, 5.2.2), parsed as strictly as any other."""
    odd = _odd_text(location)
    if odd is not None:
        raise odd
    match = _REFERENCE.fullmatch(location)
    scheme, authority, path, query = match.groups() if match else (None, None, location, None)
    if scheme is not None:
        if authority is None:
            raise TargetError("bad_input", "two slashes and a host must follow the scheme")
        prefix = f"{scheme}://{authority}"
    else:
        prefix = f"{base.scheme}://{base.authority if authority is None else authority}"
    if scheme is None and authority is None:
        path, query = _relative(base.path, path, query)
    return parse_url(f"{prefix}{_without_dots(path)}{query or ''}", schemes)


def parse_host_port(text: str) -> HostPort:
    """The host and port of `host:port`, both required, IPv6 in brackets, no scheme; else `TargetError`."""
    match = _HOST_PORT.fullmatch(text) if len(text) <= LONGEST_URL else None
    if match is None:
        raise _why_no_host_port(text)
    host = parse_host(match[1])
    return _host_port(host, int(match[2]))


def host_and_port(host: str, port: int) -> HostPort:
    """The same from two arguments; an IPv6 address may stand with or without brackets."""
    refusal = _odd_text(host)
    if refusal is not None:
        raise refusal
    bare_ipv6 = host.count(":") > 1 and not host.startswith("[")
    return _host_port(parse_host(f"[{host}]" if bare_ipv6 else host), port)


def host_port_text(host: str, port: int) -> str:
    """`host:port`, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _host_port(host: Host, port: int) -> HostPort:
    if not 1 <= port <= 65535:
        raise _bad_port()
    return HostPort(host.name, port, host.address, host.trailing_dot)


def _why_no_url(text: str, schemes: Collection[str]) -> TargetError:
    """The rule that a text breaks which the grammar refused; this path never accepts anything."""
    odd = _odd_text(text)
    if odd is not None:
        return odd
    match = _SCHEME.match(text)
    if match is None or match[1].lower() not in schemes:
        return _bad_scheme(schemes)
    rest = text[match.end() :]
    if not rest.startswith("//"):
        return TargetError("bad_input", "two slashes and a host must follow the scheme")
    return _why_no_host_port(re.split("[/?#]", rest[2:], maxsplit=1)[0])


def _why_no_host_port(text: str) -> TargetError:
    odd = _odd_text(text)
    if odd is not None:
        return odd
    if "@" in text:
        message = "user information is not allowed before the host: credentials belong in a header"
        return TargetError("userinfo_not_allowed", message)
    host, colon, port = text.rpartition(":")
    if "]" in port or not colon:
        host, port = text, ""
    try:
        parse_host(host)
    except TargetError as error:
        return error
    return _bad_port()


def _odd_text(text: str) -> TargetError | None:
    if len(text) > LONGEST_URL:
        return TargetError("too_long", f"a target has at most {LONGEST_URL} characters")
    if _REFUSED.search(text):
        return TargetError(
            "bad_input", "whitespace, control characters and backslashes are not allowed anywhere"
        )
    return None


def _bad_scheme(schemes: Collection[str]) -> TargetError:
    expected = " or ".join(f"{each}://" for each in schemes)
    return TargetError("bad_scheme", f"the scheme is not one of those allowed: expected {expected}")


def _bad_port() -> TargetError:
    return TargetError("bad_port", "a port is needed: decimal digits without a leading zero, 1 to 65535")


def _path(text: str) -> str:
    path = text if text.startswith("/") else f"/{text}"
    return path if path.isascii() else quote(path, safe=_PRINTABLE)


def _relative(base_path: str, path: str, query: str | None) -> tuple[str, str | None]:
    """Path and query of a reference without scheme and authority (RFC 3986, 5.2.2 and 5.2.3)."""
    base, mark, base_query = base_path.partition("?")
    if not path:
        return base, query if query is not None else mark + base_query
    if path.startswith("/"):
        return path, query
    return base[: base.rfind("/") + 1] + path, query


def _without_dots(path: str) -> str:
    """The path without `.` and `..` segments (RFC 3986, 5.2.4)."""
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _agree(target: Target) -> None:
    """Two parsers must read the same in the rebuilt text, or one host would be judged and another reached."""
    url = target.url
    if len(url) > LONGEST_URL:
        raise TargetError(
            "too_long", f"a target has at most {LONGEST_URL} characters, percent-encoding included"
        )
    host = f"{target.host}." if target.trailing_dot else target.host
    try:
        second = _second_parser()(url, encoded=True)
        same = (second.scheme, second.raw_host, second.port) == (target.scheme, host, target.port)
    except ValueError:
        same = False
    if not same:
        raise TargetError("ambiguous_host", "a second parser reads another scheme, host or port in this URL")


@cache
def _second_parser() -> type[URL]:
    # yarl takes a quarter of a second to import: with the first URL, not at start; kept, because an import
    # statement costs as much as the parse.
    from yarl import URL

    return URL
