"""The table of address classes: which range of IPv4 and IPv6 is what kind of place, and who may reach it.

The rules of this file:
- Longest prefix wins; the rows of length 0 make the table total.
- `reach` holds the columns that admit the range: L profile loopback, P profile private, N an allowlist entry by
  name without a mark, I an allowlist entry by the exact address; `m`: an entry by name with the mark of the class.
- `never` means that no setting whatever admits it.
- The table is ours because the flags of the `ipaddress` module differ between Python releases and call NAT64,
  6to4, site-local, multicast and IPv4-compatible addresses global.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, NamedTuple

IPAddress = IPv4Address | IPv6Address


class Row(NamedTuple):
    """One range: its class, the columns out of `LPNI` that admit it, and the register or vendor that says what it is.

    `never`: no setting whatever admits it; `marked`: an entry by name with the mark of the class does.
    """

    range: str
    name: str
    columns: str
    title: str
    never: bool = False
    marked: bool = False


def _row(network: str, name: str, reach: str, title: str) -> Row:
    never = reach == "never"
    return Row(network, name, "" if never else reach.replace("m", ""), title, never, "m" in reach)


ROWS: Final[tuple[Row, ...]] = (
    _row("0.0.0.0/32", "unspecified", "never", "this host (RFC 1122)"),
    _row("0.0.0.0/8", "this-network", "never", "this network (RFC 791)"),
    _row("127.0.0.0/8", "loopback", "LPmI", "loopback (RFC 1122)"),
    _row("10.0.0.0/8", "private", "PmI", "private use (RFC 1918)"),
    _row("172.16.0.0/12", "private", "PmI", "private use (RFC 1918)"),
    _row("192.168.0.0/16", "private", "PmI", "private use (RFC 1918)"),
    _row("100.64.0.0/10", "shared", "mI", "shared address space of carriers, Tailscale too (RFC 6598)"),
    _row("100.100.100.200/32", "metadata", "never", "Alibaba Cloud metadata"),
    _row("168.63.129.16/32", "metadata", "never", "Azure WireServer, DNS and DHCP, in public space"),
    _row("169.254.0.0/16", "link-local", "never", "link local (RFC 3927)"),
    _row("169.254.0.23/32", "metadata", "never", "Tencent Cloud metadata"),
    _row("169.254.42.42/32", "metadata", "never", "Scaleway metadata"),
    _row("169.254.169.123/32", "metadata", "never", "AWS time service"),
    _row("169.254.169.250/32", "metadata", "never", "AWS KMS for Windows"),
    _row("169.254.169.251/32", "metadata", "never", "AWS KMS for Windows"),
    _row("169.254.169.253/32", "metadata", "never", "AWS resolver"),
    _row(
        "169.254.169.254/32",
        "metadata",
        "never",
        "cloud metadata (AWS, Azure, GCP, OCI, DigitalOcean, Hetzner)",
    ),
    _row("169.254.170.2/32", "metadata", "never", "AWS ECS task metadata and credentials"),
    _row("169.254.170.23/32", "metadata", "never", "AWS EKS pod identity"),
    _row("192.0.0.0/24", "ietf-protocol", "", "IETF protocol assignments (RFC 6890)"),
    _row("192.0.0.192/32", "metadata", "never", "Oracle Cloud classic metadata"),
    _row("192.0.2.0/24", "documentation", "I", "TEST-NET-1 (RFC 5737)"),
    _row("198.51.100.0/24", "documentation", "I", "TEST-NET-2 (RFC 5737)"),
    _row("203.0.113.0/24", "documentation", "I", "TEST-NET-3 (RFC 5737)"),
    _row("198.18.0.0/15", "benchmark", "I", "benchmarking (RFC 2544)"),
    _row("192.31.196.0/24", "as112", "I", "AS112-v4 (RFC 7535)"),
    _row("192.175.48.0/24", "as112", "I", "direct delegation AS112 (RFC 7534)"),
    _row("192.52.193.0/24", "amt", "", "AMT (RFC 7450)"),
    _row("192.88.99.0/24", "6to4-relay", "never", "6to4 relay anycast, deprecated (RFC 7526)"),
    _row("224.0.0.0/4", "multicast", "never", "multicast (RFC 5771)"),
    _row("240.0.0.0/4", "reserved", "never", "reserved (RFC 1112)"),
    _row("255.255.255.255/32", "broadcast", "never", "limited broadcast (RFC 919)"),
    _row("0.0.0.0/0", "public", "NI", "the rest of IPv4"),
    _row("::/128", "unspecified", "never", "unspecified (RFC 4291)"),
    _row("::1/128", "loopback", "LPmI", "loopback (RFC 4291)"),
    _row("::/96", "ipv4-compatible", "never", "IPv4-compatible, deprecated (RFC 4291)"),
    _row("::ffff:0:0:0/96", "ipv4-translated", "never", "IPv4-translated (RFC 2765)"),
    _row("64:ff9b::/96", "nat64", "", "NAT64 well-known prefix (RFC 6052)"),
    _row("64:ff9b:1::/48", "nat64", "", "NAT64 local-use prefix (RFC 8215)"),
    _row("100::/64", "discard", "", "discard only (RFC 6666)"),
    _row("100:0:0:1::/64", "dummy", "", "dummy prefix (RFC 9780)"),
    _row("2001::/23", "ietf-protocol", "", "IETF protocol assignments (RFC 2928)"),
    _row("2001::/32", "teredo", "never", "Teredo (RFC 4380)"),
    _row("2001:2::/48", "benchmark", "I", "benchmarking (RFC 5180)"),
    _row("2001:3::/32", "amt", "", "AMT (RFC 7450)"),
    _row("2001:4:112::/48", "as112", "I", "AS112-v6 (RFC 7535)"),
    _row("2001:10::/28", "orchid", "", "ORCHID, deprecated (RFC 4843)"),
    _row("2001:20::/28", "orchid", "", "ORCHIDv2 (RFC 7343)"),
    _row("2001:30::/28", "orchid", "", "drone remote identification (RFC 9374)"),
    _row("2001:db8::/32", "documentation", "I", "documentation (RFC 3849)"),
    _row("2002::/16", "6to4", "never", "6to4 (RFC 3056)"),
    _row("2620:4f:8000::/48", "as112", "I", "direct delegation AS112 (RFC 7534)"),
    _row("3fff::/20", "documentation", "I", "documentation (RFC 9637)"),
    _row("2000::/3", "public", "NI", "global unicast"),
    _row("5f00::/16", "srv6", "", "segment routing SIDs (RFC 9602)"),
    _row("fc00::/7", "private", "PmI", "unique local (RFC 4193)"),
    _row("fd00:ec2::/32", "metadata", "never", "AWS metadata, resolver, time and pod identity"),
    _row("fd20:ce::254/128", "metadata", "never", "Google Cloud metadata"),
    _row("fd00:c1::a9fe:a9fe/128", "metadata", "never", "Oracle Cloud metadata"),
    _row("fd00:42::42/128", "metadata", "never", "Scaleway metadata"),
    _row("fd00:a9fe:a9fe::1/128", "metadata", "never", "Akamai (Linode) metadata"),
    _row("fd00:100::100:200/128", "metadata", "never", "Alibaba Cloud metadata"),
    _row("fe80::/10", "link-local", "never", "link local (RFC 4291)"),
    _row("fe80::a9fe:a9fe/128", "metadata", "never", "OpenStack metadata"),
    _row("fec0::/10", "site-local", "never", "site-local, deprecated (RFC 3879)"),
    _row("ff00::/8", "multicast", "never", "multicast (RFC 4291)"),
    _row("::/0", "reserved", "never", "unassigned IPv6"),
)

ISATAP: Final = _row(
    "2000::/3 ending in 0:5efe:a.b.c.d or 200:5efe:a.b.c.d", "isatap", "never", "ISATAP (RFC 5214)"
)
"""What no prefix can say: an interface identifier that carries an IPv4, under any prefix of public space."""
ZONE_ID: Final = _row("fe80::%zone", "zone-id", "never", "an address with a zone id (RFC 4007)")
UNCLASSIFIABLE: Final = _row("", "unclassifiable", "never", "not an IP address")
MARKS: Final[frozenset[str]] = frozenset(row.name for row in ROWS if row.marked)

_Levels = tuple[tuple[int, dict[int, Row]], ...]


def row_of(address: IPAddress) -> Row:
    """The row with the longest prefix that holds the address; an IPv4-mapped one must be decoded before."""
    value = int(address)
    for shift, rows in _IPV4 if address.version == 4 else _IPV6:
        row = rows.get(value >> shift)
        if row is not None:
            return row
    raise AssertionError("the table has a row of length 0 for each family")  # pragma: no cover


def _levels(version: int) -> _Levels:
    """One dictionary a prefix length, longest first: a lookup costs as many probes as there are lengths."""
    levels: dict[int, dict[int, Row]] = {}
    for row in ROWS:
        network: IPv4Network | IPv6Network = ip_network(row.range)
        if network.version == version:
            shift = network.max_prefixlen - network.prefixlen
            levels.setdefault(shift, {})[int(network.network_address) >> shift] = row
    return tuple(sorted(levels.items()))


_IPV4: Final = _levels(4)
_IPV6: Final = _levels(6)
