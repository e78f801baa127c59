"""The request: which headers a caller may set, what we send by default, what crosses to another origin."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from app import VERSION
from app.errors import PolicyRefused, ToolError
from policy import Target, decide_header

USER_AGENT = f"facts-mcp/{VERSION}"
"""What we call ourselves on the wire, unless the caller sets the header."""

Header = tuple[str, str]
_DEFAULTS: tuple[Header, ...] = (
    ("User-Agent", USER_AGENT),
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate"),
)
_DEFAULTS_OF_AN_UPGRADE = _DEFAULTS[:1]
_CLOSE: tuple[Header, ...] = (("Connection", "close"),)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}", re.ASCII)
_OURS = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "http2-settings",
        "sec-websocket-key",
        "sec-websocket-version",
        "sec-websocket-extensions",
        "sec-websocket-protocol",
        "sec-websocket-accept",
    }
)
"""Framing and hop-by-hop fields: a caller who sets them would make us send something else than one request."""
_CROSSES_ORIGINS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "pragma", "user-agent"}
)
"""Whatever is not here stays with its origin: a list of credentials would miss the next `X-…-Key`."""
_DESCRIBES_BODY = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
_EXPECTS_BODY = frozenset({"POST", "PUT", "PATCH"})
_SWITCHES_TO_GET = frozenset({301, 302})
_MAX_HEADERS = 64


class Request(Struct, frozen=True):
    """One request as it will be sent; `given` are the caller's headers, checked.

    `upgrade` are the headers that ask for another protocol on the connection (RFC 9110, 7.8), Connection included.
    """

    method: str
    target: Target
    given: tuple[Header, ...] = ()
    body: bytes | None = None
    upgrade: tuple[Header, ...] = ()

    def headers(self) -> list[Header]:
        """All headers in the order of the wire: Host first, ours unless replaced, then the caller's."""
        ours = _DEFAULTS_OF_AN_UPGRADE if self.upgrade else _DEFAULTS
        if self.given:
            names = {name.lower() for name, _ in self.given}
            ours = tuple(header for header in ours if header[0].lower() not in names)
        lines = [("Host", self.target.authority), *ours, *self.given, *(self.upgrade or _CLOSE)]
        if self.body is not None or self.method in _EXPECTS_BODY:
            lines.append(("Content-Length", str(len(self.body or b""))))
        return lines


def checked_headers(headers: Mapping[str, str]) -> tuple[Header, ...]:
    """The caller's headers when each may be sent; `ToolError` or `PolicyRefused` names the first that may not.

    Messages name the header, never its value: values are secrets more often than not.
    """
    if len(headers) > _MAX_HEADERS:
        raise _bad_header(f"at most {_MAX_HEADERS} headers can be sent")
    return tuple(_checked(name, value) for name, value in headers.items())


def redirected(request: Request, target: Target, status: int) -> tuple[Request, tuple[str, ...]]:
    """The request that follows a redirect to `target`, and the names of headers that stay behind.

    303 always, 301 and 302 after POST become GET without a body (RFC 9110, 15.4). Another scheme, host or port
    keeps the caller's headers that only describe what is wanted; dropped ones do not come back on a later hop.
    """
    following = replace(request, target=target)
    if status == 303 or (status in _SWITCHES_TO_GET and request.method == "POST"):
        method = "HEAD" if request.method == "HEAD" else "GET"
        kept = tuple(header for header in request.given if header[0].lower() not in _DESCRIBES_BODY)
        following = replace(following, method=method, body=None, given=kept)
    if target.origin == request.target.origin:
        return following, ()
    kept = tuple(header for header in following.given if header[0].lower() in _CROSSES_ORIGINS)
    dropped = tuple(name for name, _ in following.given if name.lower() not in _CROSSES_ORIGINS)
    return replace(following, given=kept), dropped


def _checked(name: str, value: str) -> Header:
    if not _TOKEN.fullmatch(name):
        raise _bad_header("a header name is 1 to 256 token characters (RFC 9110, 5.6.2)")
    if name.lower() in _OURS or name.lower().startswith("proxy-"):
        raise _bad_header(f"{name} cannot be set: framing, Host and hop-by-hop headers are ours")
    trimmed = value.strip(" \t")
    if not trimmed.replace("\t", " ").isprintable():
        raise _bad_header(f"the value of {name} has control characters or is not text")
    decision = decide_header(name)
    if decision is not None:
        raise PolicyRefused(
            decision.reason, {"header": name, "rule": decision.rule, "reason": decision.reason}
        )
    return name, trimmed


def _bad_header(message: str) -> ToolError:
    return ToolError("invalid_arguments", message, field="headers")
