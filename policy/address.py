"""What kind of place an address is: text or address in, a frozen `Place` out; our own table, no `ipaddress` flags."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Final, NamedTuple

from policy.errors import TargetError
from policy.table import ISATAP, UNCLASSIFIABLE, ZONE_ID, IPAddress, Row, row_of

NAT64_LENGTHS: Final = (32, 40, 48, 56, 64, 96)
"""The prefix lengths at which RFC 6052 can embed an IPv4 address."""

_OCTET: Final = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_QUAD: Final = re.compile(rf"{_OCTET}\.{_OCTET}\.{_OCTET}\.{_OCTET}", re.ASCII)
_IPV6_TEXT: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_LOW_32: Final = 0xFFFF_FFFF
_MAPPED: Final = 0xFFFF
_ISATAP: Final = 0x5EFE
_ISATAP_MASK: Final = 0xFDFF_FFFF  # all but the bit that says whether the IPv4 is unique in the world


class Place(NamedTuple):
    """The class of an address and who may reach it.

    `effective` is the address that a socket would reach: the embedded IPv4 of an IPv4-mapped address, else the
    address itself; None when the text was no address or carries a zone id, and then nothing may be dialled.
    `inner` is the IPv4 that a transition address carries, with the class of that IPv4. `columns` are those of
    `LPNI` that admit it (see `policy.table`); `marked_as` are the classes that a mark of an entry must equal.
    """

    name: str
    label: str
    title: str
    effective: IPAddress | None
    columns: str
    never: bool
    marked_as: tuple[str, ...]
    inner: tuple[IPv4Address, str] | None = None


def classify(address: IPAddress, nat64_prefixes: Sequence[IPv6Network] = ()) -> Place:
    """The place of an address; `nat64_prefixes` are those whose translator the operator vouches for."""
    if isinstance(address, IPv4Address):
        return _place(row_of(address), address)
    if address.scope_id is not None:
        return _place(ZONE_ID, None)
    value = int(address)
    if value >> 32 == _MAPPED:
        embedded = IPv4Address(value & _LOW_32)
        return _place(row_of(embedded), embedded)
    for prefix in nat64_prefixes:
        if address in prefix:
            return _translated(address, prefix)
    row = row_of(address)
    if row.name == "public" and value >> 32 & _ISATAP_MASK == _ISATAP:
        row = ISATAP
    carrier = _CARRIERS.get(row.name)
    return _place(row, address) if carrier is None else _carrying(row, address, carrier)


def classify_text(text: str, nat64_prefixes: Sequence[IPv6Network] = ()) -> Place:
    """The place of one answer of a resolver: never raises, what cannot be read is `unclassifiable` or `zone-id`."""
    try:
        return classify(parse_address(text), nat64_prefixes)
    except TargetError as error:
        return _place(ZONE_ID if error.reason_code == "zone_id" else UNCLASSIFIABLE, None)


def parse_address(text: str) -> IPAddress:
    """The address that a text spells canonically enough to be unambiguous, without brackets; else `TargetError`.

    IPv4 is four decimal octets without leading zeros, IPv6 is RFC 4291 text without a zone id.
    """
    quad = parse_quad(text)
    if quad is not None:
        return quad
    if "%" in text and _IPV6_TEXT.fullmatch(text.partition("%")[0]):
        raise TargetError("zone_id", "zone ids are not allowed: link-local addresses are never reached")
    if ":" in text and _IPV6_TEXT.fullmatch(text):
        try:
            return IPv6Address(text)
        except ValueError:
            pass  # the same refusal as for every other text that is no address
    raise TargetError(
        "bad_input", "not an IP address: expected four decimal octets or IPv6 in its standard text"
    )


def parse_quad(text: str) -> IPv4Address | None:
    """The IPv4 address of a canonical dotted quad, else None; by hand, because this is the hot path."""
    match = _QUAD.fullmatch(text)
    if match is None:
        return None
    one, two, three, four = match.groups()
    return IPv4Address(int(one) << 24 | int(two) << 16 | int(three) << 8 | int(four))


def address_text(address: IPAddress) -> str:
    """The one spelling that we give an address; Python 3.13 writes IPv4-mapped ones differently from 3.12."""
    value = int(address)
    if address.version == 6 and value >> 32 == _MAPPED and "%" not in str(address):
        return f"::ffff:{value >> 16 & 0xFFFF:x}:{value & 0xFFFF:x}"
    return str(address)


def embedded_ipv4(address: IPv6Address, length: int) -> IPv4Address:
    """The IPv4 behind a NAT64 prefix of that length (RFC 6052, 2.2): bits 64 to 71 are jumped over."""
    value = int(address)
    if length == 96:
        return IPv4Address(value & _LOW_32)
    without_gap = value >> 64 << 56 | value & (1 << 56) - 1
    return IPv4Address(without_gap >> 120 - length - 32 & _LOW_32)


def _teredo(address: IPv6Address) -> IPv4Address:
    return IPv4Address(~int(address) & _LOW_32)


def _six_to_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) >> 80 & _LOW_32)


def _low(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & _LOW_32)


_Decoder = Callable[[IPv6Address], IPv4Address]

# 64:ff9b:1::/48 is handed out in pieces of any length; unless the setting says which, the common /96 is read.
_CARRIERS: Final[Mapping[str, tuple[str, _Decoder]]] = {
    "nat64": ("", _low),
    "6to4": ("6to4", _six_to_four),
    "isatap": ("ISATAP", _low),
    "teredo": ("Teredo", _teredo),
    "ipv4-compatible": ("IPv4-compatible", _low),
    "ipv4-translated": ("IPv4-translated", _low),
}


def _place(row: Row, effective: IPAddress | None) -> Place:
    return Place(row.name, row.name, row.title, effective, row.columns, row.never, (row.name,))


def _carrying(row: Row, address: IPv6Address, carrier: tuple[str, _Decoder]) -> Place:
    wrapper, decode = carrier
    embedded = decode(address)
    inner = row_of(embedded).name
    label = f"{wrapper} carrying {embedded} ({inner})" if wrapper else f"{inner} via NAT64"
    return Place(row.name, label, row.title, address, row.columns, row.never, (row.name,), (embedded, inner))


def _translated(address: IPv6Address, prefix: IPv6Network) -> Place:
    """Behind a prefix of the setting: both the wrapper and the inner IPv4 have to pass, whoever asks."""
    embedded = embedded_ipv4(address, prefix.prefixlen)
    wrapper, inner = row_of(address), row_of(embedded)
    vouched = wrapper.name == "nat64"
    outer_columns = "PNI" if vouched else wrapper.columns
    # The loopback behind a translator is that of the translator, not ours.
    inner_columns = "" if inner.name == "loopback" else inner.columns
    return Place(
        name="nat64",
        label=f"{inner.name} via NAT64",
        title=f"NAT64 prefix {prefix} of the setting",
        effective=address,
        columns="".join(column for column in inner_columns if column in outer_columns),
        never=inner.never or wrapper.never,
        marked_as=(inner.name,) if vouched else (wrapper.name, inner.name),
        inner=(embedded, inner.name),
    )
