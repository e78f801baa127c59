"""Arguments that fit the schema become a plan, or are refused since this server does not do that."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from app.errors import ToolError
from app.measure.http1.arguments import HttpParams
from app.measure.http1.headers import Request, checked_headers
from app.measure.http1.reach import Reach, reach_of
from app.measure.kind import Limits
from policy import HTTP_SCHEMES, Target, TargetError, parse_url


class Plan(Struct, frozen=True):
    """What was asked for, checked; `source` is the text of the URL, `schemes` those that redirects may lead to."""

    request: Request
    source: str
    reach: Reach = Reach()
    follows: bool = False
    max_redirects: int = 0
    schemes: tuple[str, ...] = HTTP_SCHEMES
    keeps_origin: bool = False
    """What is said after the handshake may be a secret: redirects to another origin are refused."""
    renew: Callable[[Request], Request] | None = None
    """Makes the request of each connection from that of the plan, where no two may be the same."""
    copy_bytes: int = 16_384
    read_limit: int = 10_485_760


def plan_of(params: HttpParams, limits: Limits) -> Plan:
    """What the arguments ask for; `ToolError` names the one that cannot be done here."""
    return Plan(
        request=Request(
            _method(params.method, limits),
            target_of(params.url, HTTP_SCHEMES),
            checked_headers(params.headers),
            _body(params.body),
        ),
        source=params.url,
        reach=reach_of(params),
        follows=params.follow_redirects,
        max_redirects=redirects_of(params.max_redirects, limits),
        copy_bytes=params.max_body_bytes,
        read_limit=params.read_limit_bytes,
    )


def target_of(url: str, schemes: tuple[str, ...]) -> Target:
    """The target of the argument `url`; `ToolError` says what is wrong with its text."""
    try:
        return parse_url(url, schemes)
    except TargetError as error:
        raise ToolError(
            "invalid_arguments", error.message, field="url", reason_code=error.reason_code
        ) from error


def redirects_of(asked: int | None, limits: Limits) -> int:
    """How many redirects may be followed: as asked, up to the operator's limit."""
    if asked is None or asked <= limits.max_redirects:
        return limits.max_redirects if asked is None else asked
    message = f"at most {limits.max_redirects} redirects here; PLINTH_FACTS_MAX_REDIRECTS says how many"
    raise ToolError("invalid_arguments", message, field="max_redirects")


def _method(method: str, limits: Limits) -> str:
    allowed = limits.http_methods - {"CONNECT"}  # a tunnel would measure something else than its target
    if method in allowed:
        return method
    names = ", ".join(sorted(allowed))
    message = f"the method is not allowed here, use one of {names}; PLINTH_FACTS_HTTP_METHODS says which"
    raise ToolError("invalid_arguments", message, field="method")


def _body(text: str | None) -> bytes | None:
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            "invalid_arguments", "the body has surrogates without their half", field="body"
        ) from error
