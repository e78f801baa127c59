"""Entries of the allowlist: exact, or a line that says what is wrong with them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest

from policy.allowlist import Entry, parse_entries, quoted, unreachable_warning
from policy.errors import PolicyError

GOOD = {
    "an address": (
        "127.0.0.1:8053",
        Entry("127.0.0.1", 8053, IPv4Address("127.0.0.1"), None),
        "127.0.0.1:8053",
    ),
    "IPv6": ("[::1]:8080", Entry("::1", 8080, IPv6Address("::1"), None), "[::1]:8080"),
    "a name": ("Example.TEST.:443", Entry("example.test", 443, None, None), "example.test:443"),
    "a private name": (
        "nas.home.arpa:443@private",
        Entry("nas.home.arpa", 443, None, "private"),
        "nas.home.arpa:443@private",
    ),
    "a loopback name": (
        "svc.test:80@loopback",
        Entry("svc.test", 80, None, "loopback"),
        "svc.test:80@loopback",
    ),
    "a shared name": (
        "vpn.example:443@shared",
        Entry("vpn.example", 443, None, "shared"),
        "vpn.example:443@shared",
    ),
    "localhost carries its mark": ("localhost:80", Entry("localhost", 80, None, "loopback"), "localhost:80"),
    "another mark of localhost shows": (
        "localhost:80@shared",
        Entry("localhost", 80, None, "shared"),
        "localhost:80@shared",
    ),
    "below localhost too": ("a.localhost:80", Entry("a.localhost", 80, None, "loopback"), "a.localhost:80"),
    "other letters": ("bücher.test:80", Entry("xn--bcher-kva.test", 80, None, None), "xn--bcher-kva.test:80"),
}


@pytest.mark.parametrize("row", GOOD.values(), ids=GOOD)
def test_an_entry_is_read(row: tuple[str, Entry, str]) -> None:
    text, entry, canonical = row

    assert parse_entries(text) == (entry,)
    assert entry.text == canonical
    assert parse_entries(canonical) == (entry,)


BAD = [
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:99999",
    ":8053",
    "::1:8080",
    "example.test",
    "http://example.test:80",
]
BAD += [
    "example.test:0443",
    "*:80",
    "*.example.test:80",
    "example.test:*",
    "example.test:80@",
    "example.test:80@public",
]
BAD += [
    "example.test:80@private@shared",
    "127.0.0.1:80@loopback",
    "user@example.test:80",
    "[::1%lo]:80",
    "[fe80::1%25lo]:80",
]
BAD += ["10.0.0.0/8:80", "127.1:80", "example.test:80-90", "", "example.test:80@PRIVATE", "a b:80"]


@pytest.mark.parametrize("text", BAD)
def test_a_malformed_entry_is_one_line_that_names_it(text: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_entries(text)

    (line,) = refusal.value.lines
    assert line.startswith(f"PLINTH_FACTS_ALLOW_HOSTS: entry {text!r}: ")


def test_every_malformed_entry_has_its_line() -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_entries("a.test:80, b.test ,c.test:x,,d.test:81")

    assert [line.split(": ")[1] for line in refusal.value.lines] == [
        "entry 'b.test'",
        "entry 'c.test:x'",
        "entry ''",
    ]


def test_an_entry_that_stands_twice_counts_once() -> None:
    assert len(parse_entries("a.test:80,A.TEST.:80, localhost:1,localhost:1@loopback")) == 2


def test_one_name_and_port_has_one_mark() -> None:
    with pytest.raises(PolicyError) as refusal:
        parse_entries("a.test:80,a.test:80@private")

    assert refusal.value.lines == (
        "PLINTH_FACTS_ALLOW_HOSTS: entry 'a.test:80@private': the same name and port is listed with another mark",
    )


def test_a_long_or_odd_entry_is_shown_short_and_escaped() -> None:
    assert quoted("a\n\u202eb") == r"'a\n\u202eb'"
    assert len(quoted("x" * 1_048_576)) < 100


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("169.254.169.254:80", "the class of the address is metadata ("),
        ("0.0.0.0:80", "the class of the address is unspecified ("),
        ("[fe80::1]:80", "the class of the address is link-local ("),
        ("[::ffff:169.254.0.1]:80", "the class of the address is link-local ("),
        ("192.0.0.9:80", "the class of the address is ietf-protocol ("),
        ("[2002:7f00:1::]:80", "the class of the address is 6to4 carrying 127.0.0.1 (loopback) ("),
        ("[64:ff9b::808:808]:80", "the class of the address is public via NAT64 ("),
        ("metadata.google.internal:80", "it is a name of a cloud metadata service"),
        ("localhost:80@private", "localhost is answered locally and only with loopback addresses"),
    ],
)
def test_an_entry_that_can_never_be_reached_is_a_warning(text: str, why: str) -> None:
    (entry,) = parse_entries(text)

    warning = unreachable_warning(entry, ())

    assert warning is not None
    assert warning.startswith(f"PLINTH_FACTS_ALLOW_HOSTS: entry {entry.text} can never be reached: {why}")


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:80",
        "8.8.8.8:53",
        "192.0.2.1:80",
        "198.18.0.1:80",
        "a.test:80",
        "localhost:80",
        "a.test:80@shared",
    ],
)
def test_an_entry_that_can_be_reached_is_no_warning(text: str) -> None:
    (entry,) = parse_entries(text)

    assert unreachable_warning(entry, ()) is None


def test_a_nat64_entry_can_be_reached_when_its_prefix_is_set() -> None:
    (entry,) = parse_entries("[64:ff9b::808:808]:80")

    assert unreachable_warning(entry, (IPv6Network("64:ff9b::/96"),)) is None
