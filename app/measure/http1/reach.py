"""How a measurement reaches its target: the arguments that all kinds over HTTP share, checked."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Literal

from msgspec import Struct

from app.errors import ToolError
from app.measure.http1.reach_arguments import ReachParams
from app.net.network import Address
from app.net.trust import TlsSettings
from app.net.visit import Visit
from app.redact import carry_secrets
from policy import HostPort, TargetError, parse_host_port


class Reach(Struct, frozen=True):
    """Where to connect, from where, with which trust, how often; `visit` starts one call of it."""

    connect_to: HostPort | None = None
    source: Address | None = None
    verify: Literal["strict", "observe"] = "strict"
    connect_timeout_s: float | None = None
    each_address: bool = False
    samples: int = 1
    interval_s: float = 0.0

    def visit(self) -> Visit:
        """What the measurements of one call share."""
        return Visit(
            connect_to=self.connect_to,
            source=self.source,
            tls=TlsSettings(verify=self.verify),
            connect_timeout_s=self.connect_timeout_s,
            measurements=self.samples,
            each_address=self.each_address,
        )


def reach_of(params: ReachParams) -> Reach:
    """What the arguments ask for; `ToolError` names the one that is wrong."""
    wait_ms = params.connect_timeout_ms
    return Reach(
        connect_to=_connect_to(params.connect_to),
        source=_source(params.source),
        verify=_verify(params.verify, params.headers),
        connect_timeout_s=None if wait_ms is None else wait_ms / 1000,
        each_address=params.addresses == "all",
        samples=params.samples,
        interval_s=params.interval_ms / 1000,
    )


def _connect_to(text: str | None) -> HostPort | None:
    try:
        return None if text is None else parse_host_port(text)
    except TargetError as error:
        raise ToolError(
            "invalid_arguments", error.message, field="connect_to", reason_code=error.reason_code
        ) from error


def _source(text: str | None) -> Address | None:
    if text is None:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        address = None
    if isinstance(address, IPv6Address):
        address = None if address.scope_id else address.ipv4_mapped or address
    if address is None or address.is_unspecified or address.is_multicast:
        message = "source is an IP address of this machine, without zone, prefix and port"
        raise ToolError("invalid_arguments", message, field="source")
    return address


def _verify(mode: Literal["strict", "observe"], headers: Mapping[str, str]) -> Literal["strict", "observe"]:
    """`observe` talks to whoever answers, so that no secret may be said to them."""
    if mode == "observe" and carry_secrets(headers):
        message = "with verify observe the server is not known to be the right one: send it no secret headers"
        raise ToolError("invalid_arguments", message, field="headers")
    return mode
