"""Targets: one text, one reading, or a refusal that says which rule and never quotes a secret."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest

import policy.target
from policy.errors import TargetError
from policy.target import (
    LONGEST_URL,
    HostPort,
    Target,
    host_and_port,
    join_url,
    parse_host_port,
    parse_url,
)

LOOPBACK = IPv4Address("127.0.0.1")


def name(host: str, port: int = 80, path: str = "/", scheme: str = "http") -> Target:
    return Target(scheme, host, port, path, trailing_dot=False, address=None)


def reason_of(text: str) -> str:
    with pytest.raises(TargetError) as refusal:
        parse_url(text)
    return refusal.value.reason_code


ACCEPTED = {
    "a name": ("http://example.com/", name("example.com")),
    "no path": ("http://example.com", name("example.com")),
    "a query without a path": ("http://example.com?a=b", name("example.com", path="/?a=b")),
    "a fragment is dropped": ("http://example.com/a?b#c?d#e", name("example.com", path="/a?b")),
    "a fragment right after the host": ("http://ok.test#@169.254.169.254/", name("ok.test")),
    "an at sign in the path": ("http://ok.test/@a:b@c", name("ok.test", path="/@a:b@c")),
    "capitals": ("HTTP://EXAMPLE.COM/Path", name("example.com", path="/Path")),
    "https": ("https://example.com/", name("example.com", 443, scheme="https")),
    "a default port that is written": ("https://example.com:443/", name("example.com", 443, scheme="https")),
    "the lowest port": ("http://example.com:1/", name("example.com", 1)),
    "the highest port": ("http://example.com:65535/", name("example.com", 65535)),
    "dot segments as they are": ("http://example.com/a/../b/./c", name("example.com", path="/a/../b/./c")),
    "escapes as they are": ("http://example.com/%2e%2F%zz%", name("example.com", path="/%2e%2F%zz%")),
    "odd but printable": ("http://example.com/[a]{b}|^`<>\"'", name("example.com", path="/[a]{b}|^`<>\"'")),
    "other letters in the path": (
        "http://example.com/é?ü=ß",
        name("example.com", path="/%C3%A9?%C3%BC=%C3%9F"),
    ),
    "other letters in the host": ("http://faß.de/", name("xn--fa-hia.de")),
    "an address": ("http://127.0.0.1:8080/a", Target("http", "127.0.0.1", 8080, "/a", False, LOOPBACK)),
    "an address with a trailing dot": (
        "http://127.0.0.1./",
        Target("http", "127.0.0.1", 80, "/", True, LOOPBACK),
    ),
    "a name with a trailing dot": ("http://svc.test.:81/", Target("http", "svc.test", 81, "/", True, None)),
    "IPv6": ("http://[::1]:8080/", Target("http", "::1", 8080, "/", False, IPv6Address("::1"))),
    "IPv4-mapped stays as it was written": (
        "http://[::FFFF:127.0.0.1]/",
        Target("http", "::ffff:7f00:1", 80, "/", False, IPv6Address("::ffff:127.0.0.1")),
    ),
}


@pytest.mark.parametrize("row", ACCEPTED.values(), ids=ACCEPTED)
def test_a_url_is_read_in_one_way(row: tuple[str, Target]) -> None:
    text, target = row

    assert parse_url(text) == target
    assert parse_url(target.url) == target


# What other parsers make of these differs from one to the next; see the design notes of the policy.
REFUSED = {
    "nothing": ("", "bad_scheme"),
    "no scheme": ("//127.0.0.1/", "bad_scheme"),
    "only a host": ("127.0.0.1:80/", "bad_scheme"),
    "another scheme": ("ftp://example.com/", "bad_scheme"),
    "a file": ("file:///etc/passwd", "bad_scheme"),
    "a scheme that begins alike": ("httpx://example.com/", "bad_scheme"),
    "a fullwidth colon": ("http：//example.com/", "bad_scheme"),
    "no slashes": ("http:127.0.0.1:80/", "bad_input"),
    "one slash": ("http:/127.0.0.1/", "bad_input"),
    "three slashes": ("http:///127.0.0.1/", "bad_input"),
    "backslashes": ("http:\\\\127.0.0.1/", "bad_input"),
    "a backslash before an at sign": ("http://127.0.0.1\\@example.com/", "bad_input"),
    "a backslash after a port": ("http://ok.test:80\\@169.254.169.254/", "bad_input"),
    "no host but a port": ("http://:80/", "bad_input"),
    "a blank in front": (" http://127.0.0.1/", "bad_input"),
    "a blank at the end": ("http://127.0.0.1/ ", "bad_input"),
    "a blank in the host": ("http://127.0.0.1 /", "bad_input"),
    "a tab": ("http://ok.test\t:80/", "bad_input"),
    "line ends": ("http://ok.te\r\nst/", "bad_input"),
    "a line end at the very end": ("http://ok.test/\n", "bad_input"),
    "NUL in front": ("\0http://ok.test/", "bad_input"),
    "NUL in the host": ("http://localhost\0.evil/", "bad_input"),
    "DEL": ("http://ok.test/\x7f", "bad_input"),
    "a no-break space": ("http://ok.test/\u00a0", "bad_input"),
    "a line separator": ("http://ok.test/\u2028", "bad_input"),
    "a control character in the fragment": ("http://ok.test/#\x01", "bad_input"),
    "a lone surrogate": ("http://ok.test/\ud800", "bad_input"),
    "user and password": ("http://user:secret@example.com/", "userinfo_not_allowed"),
    "an empty user": ("http://@example.com/", "userinfo_not_allowed"),
    "two at signs": ("http://a@b@127.0.0.1/", "userinfo_not_allowed"),
    "a host as user": ("http://ok.test:80@169.254.169.254:81/", "userinfo_not_allowed"),
    "a semicolon before an at sign": ("http://1.1.1.1;@2.2.2.2/", "userinfo_not_allowed"),
    "an empty port": ("http://example.com:/", "bad_port"),
    "port 0": ("http://example.com:0/", "bad_port"),
    "port 65536": ("http://example.com:65536/", "bad_port"),
    "a port of six digits": ("http://example.com:000080/", "bad_port"),
    "a leading zero": ("http://example.com:080/", "bad_port"),
    "a sign": ("http://example.com:+80/", "bad_port"),
    "fullwidth digits": ("http://example.com:８０/", "bad_port"),
    "an underscore": ("http://example.com:8_0/", "bad_port"),
    "an Arabic digit": ("http://example.com:1808٠/", "bad_port"),
    "a blank before the port": ("http://example.com: 80/", "bad_input"),
    "a name as port": ("http://example.com:http/", "bad_port"),
    "a port after IPv6 that is none": ("http://[::1]:x/", "bad_port"),
    "two ports": ("http://example.com:80:81/", "bad_input"),
    "percent-encoding in the host": ("http://exa%6dple.com/", "bad_input"),
    "an encoded NUL": ("http://ok.test%00.evil/", "bad_input"),
    "an encoded dot": ("http://ok%2etest/", "bad_input"),
    "a number": ("http://2130706433/", "ambiguous_host"),
    "octal": ("http://0177.0.0.1/", "ambiguous_host"),
    "hexadecimal": ("http://0x7f.1/", "ambiguous_host"),
    "an octet of 256": ("http://256.256.256.256/", "ambiguous_host"),
    "circled digits": ("http://①②⑦.⓪.⓪.①/", "ambiguous_host"),
    "a circled letter": ("http://ⓛocalhost/", "ambiguous_host"),
    "a soft hyphen": ("http://exam\u00adple.com/", "ambiguous_host"),
    "bare IPv6": ("http://::1/", "bad_input"),
    "an open bracket": ("http://[::1/", "bad_input"),
    "brackets around a name": ("http://[svc.test]/", "bad_input"),
    "two pairs of brackets": ("http://[[svc.test]]/", "bad_input"),
    "a name behind brackets": ("http://[::1].example.com/", "bad_input"),
    "a zone id": ("http://[fe80::1%25lo]/", "zone_id"),
    "a plain zone id": ("http://[fe80::1%lo]/", "zone_id"),
    "hexadecimal in IPv6": ("http://[::ffff:0x7f.1]/", "bad_input"),
    "a mebibyte": ("a" * 1_048_576, "too_long"),
    "a mebibyte of path": ("http://a/" + "a" * 1_048_576, "too_long"),
    "one character too many": ("http://a/" + "a" * (LONGEST_URL - 8), "too_long"),
    "a path that grows by its escapes": ("http://a/" + "é" * 2000, "too_long"),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_a_url_that_could_be_read_differently_is_refused(row: tuple[str, str]) -> None:
    text, reason = row

    assert reason_of(text) == reason


def test_a_url_of_the_greatest_length_is_read() -> None:
    text = "http://a/" + "a" * (LONGEST_URL - 9)

    assert parse_url(text).url == text


@pytest.mark.parametrize(
    "text",
    [
        "http://me:CANARY@example.com/",
        "http://example.com:CANARY/",
        "http://example.com\\?k=CANARY",
        "CANARY:x@example.com",
        "CANARY://example.com/",
        "http://CANARY_é@/",
        "http://CANARY%20/",
        "http://a..b/?token=CANARY",
        "http://CANARY.1/",
    ],
)
def test_a_refusal_never_quotes_the_text(text: str) -> None:
    with pytest.raises(TargetError) as refusal:
        parse_url(text)

    assert "CANARY" not in str(refusal.value).upper()
    assert str(refusal.value) == refusal.value.message
    assert len(refusal.value.message) < 200


def test_other_schemes_are_allowed_only_where_the_tool_says_so() -> None:
    assert parse_url("wss://example.com/", ("ws", "wss")) == name("example.com", 443, scheme="wss")
    assert parse_url("ws://example.com:80/", ("ws", "wss")).url == "ws://example.com/"


def test_a_scheme_without_a_default_port_needs_one() -> None:
    with pytest.raises(TargetError) as refusal:
        parse_url("tcp://example.com/", ("tcp",))

    assert refusal.value.reason_code == "bad_port"
    assert parse_url("tcp://example.com:9/", ("tcp",)) == name("example.com", 9, scheme="tcp")


def test_a_second_parser_must_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from yarl import URL

    monkeypatch.setattr(policy.target, "_second_parser", lambda: lambda _text, **_: URL("http://other.test/"))

    assert reason_of("http://example.com/") == "ambiguous_host"


def test_a_second_parser_that_reads_nothing_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(_text: str, **_: bool) -> None:
        raise ValueError("no URL")

    monkeypatch.setattr(policy.target, "_second_parser", lambda: unreadable)

    assert reason_of("http://example.com/") == "ambiguous_host"


@pytest.mark.parametrize(
    ("text", "authority", "key", "origin"),
    [
        ("http://a.test/", "a.test", "a.test:80", ("http", "a.test", 80)),
        ("https://a.test.:444/", "a.test.:444", "a.test:444", ("https", "a.test.", 444)),
        ("http://[::1]/", "[::1]", "[::1]:80", ("http", "::1", 80)),
        ("http://[::1]:8080/", "[::1]:8080", "[::1]:8080", ("http", "::1", 8080)),
        ("https://a.test:80/", "a.test:80", "a.test:80", ("https", "a.test", 80)),
    ],
)
def test_a_target_says_how_it_is_asked_for_and_counted(
    text: str, authority: str, key: str, origin: tuple[str, str, int]
) -> None:
    target = parse_url(text)

    assert (target.authority, target.key, target.origin) == (authority, key, origin)


# RFC 3986, 5.4: the normal and the abnormal examples that stay within http.
REFERENCES = {
    "g": "/b/c/g",
    "./g": "/b/c/g",
    "g/": "/b/c/g/",
    "/g": "/g",
    "?y": "/b/c/d;p?y",
    "g?y": "/b/c/g?y",
    "#s": "/b/c/d;p?q",
    "g#s": "/b/c/g",
    "g?y#s": "/b/c/g?y",
    ";x": "/b/c/;x",
    "g;x": "/b/c/g;x",
    "": "/b/c/d;p?q",
    ".": "/b/c/",
    "./": "/b/c/",
    "..": "/b/",
    "../": "/b/",
    "../g": "/b/g",
    "../..": "/",
    "../../": "/",
    "../../g": "/g",
    "../../../g": "/g",
    "/./g": "/g",
    "/../g": "/g",
    "g.": "/b/c/g.",
    ".g": "/b/c/.g",
    "g..": "/b/c/g..",
    "..g": "/b/c/..g",
    "./../g": "/b/g",
    "./g/.": "/b/c/g/",
    "g/./h": "/b/c/g/h",
    "g/../h": "/b/c/h",
    "g;x=1/../y": "/b/c/y",
    "g?y/../x": "/b/c/g?y/../x",
    "g#s/../x": "/b/c/g",
    "?": "/b/c/d;p?",
    "//": None,
    "g:h": None,
    "http:g": None,
    "http:///x": None,
    "//user@b/": None,
    "/a b": None,
    "\\\\b": None,
}


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: f"<{reference}>")
def test_a_location_is_joined_as_rfc_3986_says_or_refused(reference: str) -> None:
    base, path = parse_url("http://a.test./b/c/d;p?q"), REFERENCES[reference]

    if path is None:
        with pytest.raises(TargetError):
            join_url(base, reference)
    else:
        assert join_url(base, reference) == Target(
            "http", "a.test", 80, path, trailing_dot=True, address=None
        )


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("//g.test", name("g.test")),
        ("//g.test:8080?x", name("g.test", 8080, "/?x")),
        ("https://g.test/a/../b?c#d", name("g.test", 443, "/b?c", "https")),
        ("//[::1]:81/", Target("http", "::1", 81, "/", False, IPv6Address("::1"))),
        ("//127.0.0.1/", Target("http", "127.0.0.1", 80, "/", False, LOOPBACK)),
    ],
)
def test_a_location_with_a_host_is_a_new_target(location: str, target: Target) -> None:
    assert join_url(parse_url("http://a.test/b"), location) == target


def test_a_relative_location_keeps_a_base_that_is_ipv6() -> None:
    assert join_url(parse_url("https://[::1]:444/a?b=/c"), "d").url == "https://[::1]:444/d"


def test_a_location_may_not_leave_the_schemes() -> None:
    with pytest.raises(TargetError) as refusal:
        join_url(parse_url("http://a.test/"), "file:///etc/passwd")

    assert refusal.value.reason_code == "bad_scheme"


@pytest.mark.parametrize(
    ("text", "parsed", "key"),
    [
        ("127.0.0.1:8053", HostPort("127.0.0.1", 8053, LOOPBACK), "127.0.0.1:8053"),
        ("[::1]:8080", HostPort("::1", 8080, IPv6Address("::1")), "[::1]:8080"),
        ("Example.TEST.:443", HostPort("example.test", 443, None, trailing_dot=True), "example.test:443"),
    ],
)
def test_a_host_and_port_are_read(text: str, parsed: HostPort, key: str) -> None:
    assert (parse_host_port(text), parsed.key) == (parsed, key)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "bad_input"),
        ("example.test", "bad_port"),
        ("[::1]", "bad_port"),
        ("127.0.0.1:", "bad_port"),
        ("127.0.0.1:0", "bad_port"),
        ("127.0.0.1:99999", "bad_port"),
        (":8053", "bad_input"),
        ("::1:8080", "bad_input"),
        ("http://example.test:80", "bad_input"),
        ("example.test:0443", "bad_port"),
        ("example.test:443/", "bad_port"),
        ("*:80", "bad_input"),
        ("a@b:80", "userinfo_not_allowed"),
        ("a b:80", "bad_input"),
        ("a" * 9000 + ":80", "too_long"),
    ],
    ids=lambda text: text[:30],
)
def test_a_host_and_port_that_are_not_exact_are_refused(text: str, reason: str) -> None:
    with pytest.raises(TargetError) as refusal:
        parse_host_port(text)

    assert refusal.value.reason_code == reason


@pytest.mark.parametrize(
    ("host", "parsed"),
    [
        ("::1", HostPort("::1", 53, IPv6Address("::1"))),
        ("[::1]", HostPort("::1", 53, IPv6Address("::1"))),
        ("127.0.0.1", HostPort("127.0.0.1", 53, LOOPBACK)),
        ("Dns.Test.", HostPort("dns.test", 53, None, trailing_dot=True)),
    ],
)
def test_host_and_port_come_as_two_arguments_too(host: str, parsed: HostPort) -> None:
    assert host_and_port(host, 53) == parsed


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [
        ("a.test", 0, "bad_port"),
        ("a.test", 65536, "bad_port"),
        ("a.test", -1, "bad_port"),
        ("a.test:80", 80, "bad_input"),
        ("fe80::1%lo", 80, "zone_id"),
        ("a\n", 80, "bad_input"),
        ("a" * 9000, 80, "too_long"),
        ("http://a.test/", 80, "bad_input"),
        ("a@b", 80, "bad_input"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_two_arguments_are_read_as_strictly(host: str, port: int, reason: str) -> None:
    with pytest.raises(TargetError) as refusal:
        host_and_port(host, port)

    assert refusal.value.reason_code == reason
