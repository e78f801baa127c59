"""Arguments that fit the schema become a plan of the handshake and of the listening, or are refused."""

from __future__ import annotations

import binascii
from base64 import b64decode

from msgspec import Struct
from msgspec.structs import replace
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.protocol import OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri
from websockets.utils import generate_key

from app.errors import ToolError
from app.measure.http1.headers import Request, checked_headers
from app.measure.http1.plan import Plan, redirects_of, target_of
from app.measure.http1.reach import reach_of
from app.measure.kind import Limits
from app.measure.websocket.arguments import Binary, WsParams
from app.redact import secrets_in_subprotocols

SCHEMES = ("ws", "wss")
KEY = "Sec-WebSocket-Key"


class Listening(Struct, frozen=True):
    """How long and how much to listen, and what to send first; texts are `str`."""

    window_s: float = 1.0
    max_messages: int = 100
    max_bytes: int = 65_536
    subprotocols: tuple[str, ...] = ()
    send: tuple[str | bytes, ...] = ()


class WsPlan(Struct, frozen=True):
    """What was asked for, checked."""

    handshake: Plan
    listening: Listening


def ws_plan_of(params: WsParams, limits: Limits) -> WsPlan:
    """What the arguments ask for; `ToolError` names the one that cannot be done here."""
    listening = Listening(
        window_s=params.window_ms / 1000,
        max_messages=params.max_messages,
        max_bytes=params.max_bytes,
        subprotocols=_subprotocols(params),
        send=tuple(_payload(index, item) for index, item in enumerate(params.send)),
    )
    handshake = Plan(
        request=Request(
            "GET",
            target_of(params.url, SCHEMES),
            checked_headers(params.headers),
            upgrade=_upgrade(listening),
        ),
        source=params.url,
        reach=reach_of(params),
        follows=params.follow_redirects,
        max_redirects=redirects_of(params.max_redirects, limits),
        schemes=SCHEMES,
        keeps_origin=bool(params.send or params.subprotocols),
        renew=_renewed,
    )
    return WsPlan(handshake, listening)


def protocol_of(listening: Listening) -> ClientProtocol:
    """The protocol, sans I/O, that offers what is to be listened to; its limit counts decompressed bytes."""
    return ClientProtocol(
        parse_uri("ws://localhost/"),  # it only names the Host, which is ours to send
        state=OPEN,  # frames follow: the head of the answer is read by us
        extensions=[ClientPerMessageDeflateFactory(client_max_window_bits=True)],
        subprotocols=[Subprotocol(each) for each in listening.subprotocols] or None,
        max_size=listening.max_bytes,
    )


def _upgrade(listening: Listening) -> tuple[tuple[str, str], ...]:
    """The headers of the handshake with a new key (RFC 6455, 4.1)."""
    headers = protocol_of(listening).connect().headers
    return tuple((name, value) for name, value in headers.raw_items() if name != "Host")


def _renewed(request: Request) -> Request:
    """The request with a key of its own, as every connection has to have one (RFC 6455, 4.1)."""
    upgrade = tuple((name, generate_key() if name == KEY else value) for name, value in request.upgrade)
    return replace(request, upgrade=upgrade)


def _subprotocols(params: WsParams) -> tuple[str, ...]:
    if params.verify == "observe" and secrets_in_subprotocols(params.subprotocols):
        message = (
            "with verify observe the server is not known to be the right one: send it no secret subprotocols"
        )
        raise ToolError("invalid_arguments", message, field="subprotocols")
    return tuple(params.subprotocols)


def _payload(index: int, item: str | Binary) -> str | bytes:
    if isinstance(item, Binary):
        try:
            return b64decode(item.base64, validate=True)
        except binascii.Error as error:
            raise ToolError(
                "invalid_arguments", f"send[{index}]: not base64", field=f"send[{index}]"
            ) from error
    try:
        item.encode()
    except UnicodeEncodeError as error:
        message = f"send[{index}] has surrogates without their half"
        raise ToolError("invalid_arguments", message, field=f"send[{index}]") from error
    return item
