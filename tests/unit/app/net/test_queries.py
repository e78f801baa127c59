"""DNS over our own sockets, against a server on loopback."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from app.errors import ProbeFailed
from app.net.nameservers import Nameserver, Nameservers
from app.net.network import Answer
from app.net.queries import ask

Records = dict[str, list[tuple[str, int, str, str]]]


def free() -> None:
    """Spends nothing."""


def reply_to(
    query: dns.message.Message, *records: tuple[str, int, str, str], rcode: int = 0, flags: int = 0
) -> bytes:
    reply = dns.message.make_response(query)
    reply.set_rcode(dns.rcode.Rcode(rcode))
    reply.flags |= flags
    reply.answer = [dns.rrset.from_text(name, ttl, "IN", kind, text) for name, ttl, kind, text in records]
    return reply.to_wire()


def kind_of(query: dns.message.Message) -> str:
    return dns.rdatatype.to_text(query.question[0].rdtype)


def table(records: Records) -> Callable[[dns.message.Message, str], list[bytes]]:
    return lambda query, _transport: [reply_to(query, *records.get(kind_of(query), []))]


def at(*servers: Any, seconds: float = 2.0, attempts: int = 1) -> Nameservers:
    named = [
        Nameserver(ip_address("127.0.0.1"), server if isinstance(server, int) else server.port)
        for server in servers
    ]
    return Nameservers(tuple(named), seconds, attempts)


def lookup(nameservers: Nameservers, name: str = "svc.test", spend: Callable[[], None] = free) -> Answer:
    return asyncio.run(ask(name, nameservers, spend))


def failure(nameservers: Nameservers, name: str = "svc.test") -> tuple[str, str, str]:
    with pytest.raises(ProbeFailed) as caught:
        lookup(nameservers, name)
    return caught.value.phase, caught.value.code, caught.value.message


def test_both_families_are_asked_and_answered_with_their_ttl(dns_server: Any) -> None:
    server = dns_server(
        table({"A": [("svc.test.", 30, "A", "10.0.0.1")], "AAAA": [("svc.test.", 40, "AAAA", "fd00::5")]})
    )

    answer = lookup(at(server))

    assert answer == Answer("dns", f"127.0.0.1:{server.port}", (), (("10.0.0.1", 30), ("fd00::5", 40)))
    assert sorted(server.queries) == [("udp", "svc.test. IN A"), ("udp", "svc.test. IN AAAA")]


def test_aliases_are_followed_within_the_answer(dns_server: Any) -> None:
    records = [
        ("svc.test.", 9, "CNAME", "Edge.test."), ("edge.test.", 8, "CNAME", "node.test."),
        ("node.test.", 7, "A", "10.0.0.1"),
    ]  # fmt: skip

    answer = lookup(at(dns_server(table({"A": records}))))

    assert (answer.cname, answer.addresses) == (("edge.test", "node.test"), (("10.0.0.1", 7),))


def test_aliases_in_a_circle_are_a_failed_resolver(dns_server: Any) -> None:
    records = [("svc.test.", 9, "CNAME", "b.test."), ("b.test.", 9, "CNAME", "svc.test.")]

    assert failure(at(dns_server(table({"A": records}))))[:2] == ("resolve", "resolver_failed")


def test_a_name_that_does_not_exist_is_not_found(dns_server: Any) -> None:
    server = dns_server(lambda query, _: [reply_to(query, rcode=dns.rcode.NXDOMAIN)])

    assert failure(at(server)) == ("resolve", "name_not_found", "NXDOMAIN: the name does not exist")


def test_a_name_without_addresses_is_not_found(dns_server: Any) -> None:
    assert failure(at(dns_server(table({})))) == (
        "resolve",
        "name_not_found",
        "the name exists, but has no address",
    )


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_a_server_that_fails_hands_on_to_the_next(dns_server: Any, rcode: int) -> None:
    bad = dns_server(lambda query, _: [reply_to(query, rcode=rcode)])
    good = dns_server(table({"A": [("svc.test.", 30, "A", "10.0.0.1")]}))

    answer = lookup(at(bad, good))

    assert answer == Answer("dns", f"127.0.0.1:{good.port}", (), (("10.0.0.1", 30),))


def test_servers_that_all_fail_are_a_failed_resolver(dns_server: Any) -> None:
    server = dns_server(lambda query, _: [reply_to(query, rcode=dns.rcode.SERVFAIL)])

    assert failure(at(server)) == ("resolve", "resolver_failed", "no nameserver gave an answer: SERVFAIL")


def test_a_silent_server_is_asked_again_and_then_times_out(dns_server: Any) -> None:
    server = dns_server(lambda _query, _: [])

    assert failure(at(server, seconds=0.05, attempts=2)) == (
        "resolve",
        "timeout",
        "no nameserver answered in time",
    )
    assert len(server.queries) == 4


def test_every_try_has_an_id_of_its_own(dns_server: Any) -> None:
    ids: list[int] = []

    def handler(query: dns.message.Message, _transport: str) -> list[bytes]:
        ids.append(query.id)
        return []

    failure(at(dns_server(handler), seconds=0.05, attempts=4))

    assert len(set(ids)) > 6


def test_a_closed_port_is_a_failed_resolver_without_waiting(byte_server: Any) -> None:
    server = byte_server([["eof"]])  # it holds the TCP port of that number; nothing listens on the UDP one

    assert failure(at(server, seconds=60.0))[:2] == ("resolve", "resolver_failed")


def test_only_what_is_still_open_is_asked_again(dns_server: Any) -> None:
    server = dns_server(
        lambda query, _: (
            [] if kind_of(query) == "AAAA" else [reply_to(query, ("svc.test.", 5, "A", "10.0.0.1"))]
        )
    )

    answer = lookup(at(server, seconds=0.05, attempts=2))

    assert answer.addresses == (("10.0.0.1", 5),)
    assert [text for _, text in server.queries].count("svc.test. IN A") == 1


def test_one_family_without_an_answer_does_not_take_the_other_away(dns_server: Any) -> None:
    def handler(query: dns.message.Message, _transport: str) -> list[bytes]:
        if kind_of(query) == "AAAA":
            return [reply_to(query, rcode=dns.rcode.SERVFAIL)]
        return [reply_to(query, ("svc.test.", 5, "A", "10.0.0.1"))]

    assert lookup(at(dns_server(handler))).addresses == (("10.0.0.1", 5),)


def test_one_family_empty_and_the_other_failed_is_a_failed_resolver(dns_server: Any) -> None:
    server = dns_server(lambda query, _: [reply_to(query, rcode=2 if kind_of(query) == "AAAA" else 0)])

    assert failure(at(server))[1] == "resolver_failed"


def test_replies_that_do_not_match_are_passed_over(dns_server: Any) -> None:
    def handler(query: dns.message.Message, _transport: str) -> list[bytes]:
        true = reply_to(
            query, ("svc.test.", 5, kind_of(query), "10.0.0.1" if kind_of(query) == "A" else "fd00::5")
        )
        other_id = bytes([true[0] ^ 255]) + true[1:]
        other_name = reply_to(
            dns.message.make_query("evil.test", "A", id=query.id), ("evil.test.", 5, "A", "10.6.6.6")
        )
        update = b"\x00\x00" + b"\xa8\x00" + true[4:]
        return [b"", b"\xff", other_id, other_name, update, true]

    assert lookup(at(dns_server(handler))).addresses == (("10.0.0.1", 5), ("fd00::5", 5))


def test_the_ids_of_queries_are_not_counted_up(dns_server: Any) -> None:
    ids: list[int] = []

    def handler(query: dns.message.Message, _transport: str) -> list[bytes]:
        ids.append(query.id)
        return [reply_to(query)]

    for _ in range(8):
        failure(at(dns_server(handler)))

    assert len(set(ids)) > 12
    assert len({later - earlier for earlier, later in itertools.pairwise(ids)}) > 8


def test_an_answer_that_was_cut_comes_over_tcp(dns_server: Any) -> None:
    many = [("svc.test.", 5, "A", f"10.0.0.{number}") for number in range(40)]

    def handler(query: dns.message.Message, transport: str) -> list[bytes]:
        if transport == "udp":
            return [reply_to(query, flags=dns.flags.TC if kind_of(query) == "A" else 0)]
        wire = reply_to(query, *many)
        return [len(wire).to_bytes(2, "big") + wire[:5], wire[5:]]

    server = dns_server(handler)

    assert len(lookup(at(server)).addresses) == 40
    assert ("tcp", "svc.test. IN A") in server.queries


@pytest.mark.parametrize(
    ("over_tcp", "message"),
    [
        pytest.param(b"", "no nameserver gave an answer: the server closed the connection", id="it hangs up"),
        pytest.param(
            b"\x00\x03abc", "no nameserver gave an answer: an answer that does not match", id="it babbles"
        ),
    ],
)
def test_a_tcp_answer_that_is_none_is_a_failed_resolver(
    dns_server: Any, over_tcp: bytes, message: str
) -> None:
    def handler(query: dns.message.Message, transport: str) -> list[bytes]:
        return [reply_to(query, flags=dns.flags.TC)] if transport == "udp" else [over_tcp]

    assert failure(at(dns_server(handler)))[2].startswith(message)


def test_every_query_spends_a_token_before_it_leaves(dns_server: Any) -> None:
    spent: list[str] = []

    def handler(query: dns.message.Message, transport: str) -> list[bytes]:
        if transport == "udp":
            return [reply_to(query, flags=dns.flags.TC)]
        wire = reply_to(
            query, ("svc.test.", 5, kind_of(query), "10.0.0.1" if kind_of(query) == "A" else "fd00::5")
        )
        return [len(wire).to_bytes(2, "big") + wire]

    lookup(at(dns_server(handler)), spend=lambda: spent.append("token"))

    assert len(spent) == 4


def test_a_query_without_a_token_is_not_sent(dns_server: Any) -> None:
    server = dns_server(table({}))

    def broke() -> None:
        raise ProbeFailed("limit", "rate_limited", "no token")

    with pytest.raises(ProbeFailed) as caught:
        lookup(at(server), spend=broke)

    assert (caught.value.code, server.queries) == ("rate_limited", [])


def test_a_cancelled_lookup_leaves_no_descriptor_behind(
    dns_server: Any, descriptors: Callable[[], set[str]]
) -> None:
    server = dns_server(lambda _query, _: [])

    async def stopped() -> bool:
        before = descriptors()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await ask("svc.test", at(server, seconds=60.0), free)
        return descriptors() <= before

    assert asyncio.run(stopped())
