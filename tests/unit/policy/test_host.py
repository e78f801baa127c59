"""Hosts: what is a name, what is an address, and what two parsers could read differently."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest

from policy.errors import TargetError
from policy.host import Host, parse_host

ACCEPTED = {
    "a name": ("example.com", Host("example.com", None, trailing_dot=False)),
    "capitals": ("EXAMPLE.Com", Host("example.com", None, trailing_dot=False)),
    "a trailing dot": ("example.com.", Host("example.com", None, trailing_dot=True)),
    "a single label": ("nas", Host("nas", None, trailing_dot=False)),
    "underscores": ("_dmarc.a_b.test", Host("_dmarc.a_b.test", None, trailing_dot=False)),
    "digits in front": ("1and1.test", Host("1and1.test", None, trailing_dot=False)),
    "hexadecimal text that is no number": ("0xfg.0x7g", Host("0xfg.0x7g", None, trailing_dot=False)),
    "two hyphens in third place": ("r3---sn.test", Host("r3---sn.test", None, trailing_dot=False)),
    "a label of 63": (f"{'a' * 63}.test", Host(f"{'a' * 63}.test", None, trailing_dot=False)),
    "a name of 253": (
        ".".join(["a" * 49] * 5) + ".abc",
        Host(".".join(["a" * 49] * 5) + ".abc", None, trailing_dot=False),
    ),
    "sharp s kept": ("faß.de", Host("xn--fa-hia.de", None, trailing_dot=False)),
    "an umlaut in capitals": ("BÜCHER.test", Host("xn--bcher-kva.test", None, trailing_dot=False)),
    "an umlaut beside an underscore label": (
        "_x.bücher.test.",
        Host("_x.xn--bcher-kva.test", None, trailing_dot=True),
    ),
    "Japanese": ("例え.テスト", Host("xn--r8jz45g.xn--zckzah", None, trailing_dot=False)),
    "a joiner where its script needs it": ("क्‍ष.test", Host("xn--11b2ezcw70k.test", None, trailing_dot=False)),
    "an A-label": ("XN--fa-hia.de", Host("xn--fa-hia.de", None, trailing_dot=False)),
    "an A-label of a sign": ("xn--i-7iq.ws", Host("xn--i-7iq.ws", None, trailing_dot=False)),
    "a quad": ("127.0.0.1", Host("127.0.0.1", IPv4Address("127.0.0.1"), trailing_dot=False)),
    "a quad with a trailing dot": (
        "169.254.169.254.",
        Host("169.254.169.254", IPv4Address("169.254.169.254"), trailing_dot=True),
    ),
    "the highest quad": (
        "255.255.255.255",
        Host("255.255.255.255", IPv4Address("255.255.255.255"), trailing_dot=False),
    ),
    "IPv6": ("[::1]", Host("::1", IPv6Address("::1"), trailing_dot=False)),
    "IPv6 in long capitals": (
        "[2001:DB8:0:0:0:0:0:A]",
        Host("2001:db8::a", IPv6Address("2001:db8::a"), trailing_dot=False),
    ),
    "IPv4-mapped stays IPv6": (
        "[::ffff:127.0.0.1]",
        Host("::ffff:7f00:1", IPv6Address("::ffff:7f00:1"), trailing_dot=False),
    ),
}


@pytest.mark.parametrize("row", ACCEPTED.values(), ids=ACCEPTED)
def test_a_host_is_accepted_in_its_canonical_form(row: tuple[str, Host]) -> None:
    text, host = row

    assert parse_host(text) == host


REFUSED = {
    "nothing": ("", "bad_input"),
    "only a dot": (".", "bad_input"),
    "two dots at the end": ("svc.test..", "bad_input"),
    "an empty label": ("a..b", "bad_input"),
    "a dot in front": (".a", "bad_input"),
    "an empty label beside an umlaut": ("ü..a", "bad_input"),
    "a label of 64": ("a" * 64, "bad_input"),
    "a name of 254": (".".join(["a" * 49] * 5) + ".abcd", "too_long"),
    "a mebibyte": ("a" * 1_048_576, "too_long"),
    "umlauts that grow beyond 63": ("é" * 60, "bad_input"),
    "umlaut labels that grow beyond 253": (".".join(["é" * 20] * 12), "too_long"),
    "a hyphen in front": ("-a.test", "bad_input"),
    "a hyphen at the end": ("a-.test", "bad_input"),
    "a space": ("a b", "bad_input"),
    "a star": ("*.test", "bad_input"),
    "NUL": ("localhost\0.evil", "bad_input"),
    "a line end": ("a\n", "bad_input"),
    "percent-encoding": ("127%2e0%2e0%2e1", "bad_input"),
    "bare IPv6": ("::1", "bad_input"),
    "a short form": ("127.1", "ambiguous_host"),
    "a number": ("2130706433", "ambiguous_host"),
    "a number that is too large": ("4294967296", "ambiguous_host"),
    "hexadecimal": ("0x7f000001", "ambiguous_host"),
    "hexadecimal in capitals": ("0X7F000001", "ambiguous_host"),
    "an empty hexadecimal number": ("0x", "ambiguous_host"),
    "hexadecimal in the last label": ("127.0.0.0x1", "ambiguous_host"),
    "octal": ("0177.0.0.1", "ambiguous_host"),
    "long octal": ("017700000001", "ambiguous_host"),
    "zero": ("0", "ambiguous_host"),
    "a leading zero": ("010.0.0.1", "ambiguous_host"),
    "a leading zero at the end": ("127.0.0.01", "ambiguous_host"),
    "an octet of 256": ("1.2.3.256", "ambiguous_host"),
    "five octets": ("1.2.3.4.5", "ambiguous_host"),
    "three octets": ("1.2.3", "ambiguous_host"),
    "a name that ends in a number": ("a.1", "ambiguous_host"),
    "a short form with a trailing dot": ("127.1.", "ambiguous_host"),
    "circled digits": ("①②⑦.⓪.⓪.①", "ambiguous_host"),
    "fullwidth digits": ("１２７.0.0.1", "ambiguous_host"),
    "other dots": ("127。0。0。1", "ambiguous_host"),
    "other dots in a name": ("例え。テスト", "ambiguous_host"),
    "a circled letter": ("ⓛocalhost", "ambiguous_host"),
    "the Kelvin sign": ("\u212aey.test", "ambiguous_host"),
    "a soft hyphen": ("exam\u00adple.com", "ambiguous_host"),
    "a soft hyphen beside an umlaut": ("fa\u00adß.de", "ambiguous_host"),
    "a zero-width space": ("ü\u200bber.test", "ambiguous_host"),
    "a fullwidth at sign": ("ok.test＠é.test", "bad_input"),
    "a joiner where no script needs it": ("a\u200db.test", "bad_input"),
    "a heart that IDNA 2008 does not have": ("i❤.ws", "bad_input"),
    "a combining mark in front": ("\u0301a.test", "bad_input"),
    "a lone surrogate": ("\ud800.test", "bad_input"),
    "an A-label of nothing": ("xn--.test", "bad_input"),
    "an A-label of ASCII": ("xn--abc-.test", "bad_input"),
    "an A-label that ends in ASCII alone": ("xn--a--a.test", "ambiguous_host"),
    "an A-label that does not decode": ("xn--99999999.test", "ambiguous_host"),
    "an A-label of a capital letter": ("xn--ab-6ha.test", "ambiguous_host"),
    "an A-label whose text maps elsewhere": ("xn--a-ecp.test", "ambiguous_host"),
    "an open bracket": ("[::1", "bad_input"),
    "text behind the brackets": ("[::1].example.com", "bad_input"),
    "a name in brackets": ("[svc.test]", "bad_input"),
    "IPv4 in brackets": ("[127.0.0.1]", "bad_input"),
    "two pairs of brackets": ("[[::1]]", "bad_input"),
    "a zone id": ("[fe80::1%lo]", "zone_id"),
    "an encoded zone id": ("[fe80::1%25lo]", "zone_id"),
    "hexadecimal inside IPv6": ("[::ffff:0x7f.1]", "bad_input"),
    "IPv6 with nine groups": ("[1:2:3:4:5:6:7:8:9]", "bad_input"),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_a_host_that_could_be_read_differently_is_refused(row: tuple[str, str]) -> None:
    text, reason = row

    with pytest.raises(TargetError) as refusal:
        parse_host(text)

    assert refusal.value.reason_code == reason
