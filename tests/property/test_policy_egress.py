"""Laws of egress: what no setting can open, what an entry may change, and that spelling and order do not matter."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.address import classify
from policy.egress import Policy
from policy.table import MARKS, ROWS, IPAddress
from policy.target import host_port_text, parse_url


def inside(row_range: str) -> st.SearchStrategy[IPAddress]:
    network = ip_network(row_range)
    return st.integers(int(network[0]), int(network[-1])).map(type(network[0]))


in_table = st.sampled_from([row.range for row in ROWS]).flatmap(inside)
addresses = st.one_of(
    in_table, st.integers(0, 2**32 - 1).map(IPv4Address), st.integers(0, 2**128 - 1).map(IPv6Address)
)
names = st.sampled_from(["a.test", "b.test", "localhost", "x.localhost", "metadata", "xn--fa-hia.de"])
ports = st.sampled_from([1, 80, 443, 65535])
marks = st.sampled_from(["", *(f"@{mark}" for mark in sorted(MARKS))])
profiles = st.sampled_from(["deny-all", "loopback", "private"])
nat64 = st.sampled_from(["", "64:ff9b::/96", "64:ff9b:1::/48,2001:db8::/32,fd64::/96"])


@st.composite
def entries(draw: st.DrawFn) -> str:
    port = draw(ports)
    if draw(st.booleans()):
        return f"{draw(names)}:{port}{draw(marks)}"
    return host_port_text(str(draw(addresses)), port)


def key_of(entry: str) -> tuple[str, int]:
    (listed,) = Policy.parse("allowlist", entry).entries
    effective = None if listed.address is None else classify(listed.address).effective
    return (listed.host if effective is None else str(effective)), listed.port


@given(addresses, ports, nat64, st.booleans())
@settings(deadline=None)  # the first target imports yarl
def test_no_entry_opens_an_address_without_the_column_i(
    address: IPAddress,
    port: int,
    prefixes: str,
    own: bool,  # noqa: FBT001  # hypothesis passes by position
) -> None:
    literal = Policy.parse("allowlist", host_port_text(str(address), port), prefixes)
    named = [
        Policy.parse("allowlist", f"a.test:{port}{mark}", prefixes) for mark in ("", "@loopback", "@private")
    ]

    allowed = [literal.decide_address(str(address), port, address, own=own).allowed]
    allowed += [policy.decide_address("a.test", port, address, own=own).allowed for policy in named]

    assert not any(allowed) or "I" in classify(address, literal.nat64_prefixes).columns


@given(st.lists(entries(), min_size=1, max_size=3, unique_by=key_of), entries(), names, addresses, ports)
@settings(deadline=None)  # the first target imports yarl
def test_an_entry_changes_nothing_but_its_own_host_and_port(
    before: list[str], added: str, name: str, address: IPAddress, port: int
) -> None:
    if key_of(added) in map(key_of, before):
        return
    narrow, wide = (Policy.parse("allowlist", ",".join(each)) for each in (before, [*before, added]))

    for host in (name, str(address)):
        if narrow.decide_address(host, port, address) != wide.decide_address(host, port, address):
            effective = classify(address).effective
            assert key_of(added) == (name if host == name else str(effective), port)


@given(names, addresses, ports, st.booleans())
@settings(deadline=None)  # the first target imports yarl
def test_under_deny_all_nothing_is_allowed(
    name: str,
    address: IPAddress,
    port: int,
    own: bool,  # noqa: FBT001  # hypothesis passes by position
) -> None:
    policy = Policy.parse("deny-all")

    assert not policy.decide_target(parse_url(f"http://{name}:{port}/")).allowed
    assert not policy.decide_address(name, port, address, own=own).allowed
    assert policy.lookup(name) == "none"


@given(
    st.lists(addresses, min_size=1, max_size=6).flatmap(
        lambda each: st.tuples(st.just(each), st.permutations(each))
    )
)
@settings(deadline=None)  # the first target imports yarl
def test_the_order_of_an_answer_changes_nothing(orders: tuple[list[IPAddress], list[IPAddress]]) -> None:
    for policy in (Policy.parse("private"), Policy.parse("allowlist", "a.test:80"), Policy.parse("loopback")):
        one, other = (policy.decide_answer("a.test", 80, order) for order in orders)

        assert one.decision == other.decision
        assert set(one.addresses) == set(other.addresses)


@given(st.integers(0, 2**32 - 1).map(IPv4Address), ports, profiles)
@settings(deadline=None)  # the first target imports yarl
def test_an_ipv4_address_gets_one_verdict_in_every_spelling(
    address: IPv4Address, port: int, profile: str
) -> None:
    high, low = divmod(int(address), 65536)
    hosts = [str(address), f"{address}.", f"[::ffff:{address}]", f"[0:0:0:0:0:FFFF:{high:04X}:{low:x}]"]
    policies = [Policy.parse(profile), Policy.parse("allowlist", f"{address}:{port}")]

    for policy in policies:
        targets = [parse_url(f"http://{host}:{port}/") for host in hosts]
        decisions = [policy.decide_target(target) for target in targets]
        assert len({(each.allowed, each.rule, each.address_class) for each in decisions}) == 1


@given(names, addresses, ports, profiles, nat64)
@example("a.test", IPv6Address("64:ff9b:1:2df:932c:384a:100:0"), 1, "deny-all", "")
@example("localhost", IPv4Address("100.64.0.0"), 1, "deny-all", "")
@settings(deadline=None)  # the first target imports yarl
def test_the_advice_of_a_refusal_works(
    name: str, address: IPAddress, port: int, profile: str, prefixes: str
) -> None:
    configure = Policy.parse(profile, "", prefixes).decide_address(name, port, address).configure
    if configure is None:
        return

    settings = dict.fromkeys(("PROFILE", "HOSTS", "PREFIXES"), "") | {
        "PROFILE": profile,
        "PREFIXES": prefixes,
    }
    for part in configure.replace(" entry ", "=").replace(" with ", " ").replace(" and ", " ").split():
        variable, _, value = part.partition("=")
        settings[variable.rpartition("_")[2]] = value
    assert Policy.parse(*settings.values()).decide_address(name, port, address).allowed
