"""Arguments that fit the schema become a plan, or are refused since this server does not do that."""

from __future__ import annotations

from msgspec import Struct

from app.errors import ToolError
from app.measure.http1.arguments import HttpParams
from app.measure.http1.headers import Request, checked_headers
from app.measure.kind import Limits
from policy import Target, TargetError, parse_url


class Plan(Struct, frozen=True):
    """What was asked for, checked; `source` is the text of the URL."""

    request: Request
    source: str
    follows: bool
    max_redirects: int
    connect_timeout_s: float | None
    copy_bytes: int
    read_limit: int


def plan_of(params: HttpParams, limits: Limits) -> Plan:
    """What the arguments ask for; `ToolError` names the one that cannot be done here."""
    wait_ms = params.connect_timeout_ms
    return Plan(
        request=Request(
            _method(params.method, limits),
            _target(params.url),
            checked_headers(params.headers),
            _body(params.body),
        ),
        source=params.url,
        follows=params.follow_redirects,
        max_redirects=_max_redirects(params.max_redirects, limits),
        connect_timeout_s=None if wait_ms is None else wait_ms / 1000,
        copy_bytes=params.max_body_bytes,
        read_limit=params.read_limit_bytes,
    )


def _method(method: str, limits: Limits) -> str:
    allowed = limits.http_methods - {"CONNECT"}  # a tunnel would measure something else than its target
    if method in allowed:
        return method
    names = ", ".join(sorted(allowed))
    message = f"the method is not allowed here, use one of {names}; PLINTH_FACTS_HTTP_METHODS says which"
    raise ToolError("invalid_arguments", message, field="method")


def _target(url: str) -> Target:
    try:
        return parse_url(url)
    except TargetError as error:
        raise ToolError(
            "invalid_arguments", error.message, field="url", reason_code=error.reason_code
        ) from error


def _body(text: str | None) -> bytes | None:
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            "invalid_arguments", "the body has surrogates without their half", field="body"
        ) from error


def _max_redirects(asked: int | None, limits: Limits) -> int:
    if asked is None or asked <= limits.max_redirects:
        return limits.max_redirects if asked is None else asked
    message = f"at most {limits.max_redirects} redirects here; PLINTH_FACTS_MAX_REDIRECTS says how many"
    raise ToolError("invalid_arguments", message, field="max_redirects")
