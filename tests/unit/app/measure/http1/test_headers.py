"""What a caller may set, what we send, and what stays with its origin."""

from __future__ import annotations

import pytest

from app.errors import PolicyRefused, ToolError
from app.measure.http1.headers import USER_AGENT, Request, checked_headers, redirected
from policy import parse_url

HERE = parse_url("http://127.0.0.1:8080/a?b")
SECRETS = (("Authorization", "Bearer CANARY"), ("Cookie", "CANARY"), ("X-Api-Key", "CANARY"))


def test_the_default_request_names_us_and_closes_the_connection() -> None:
    assert Request("GET", HERE).headers() == [
        ("Host", "127.0.0.1:8080"),
        ("User-Agent", USER_AGENT),
        ("Accept", "*/*"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Connection", "close"),
    ]


def test_the_callers_headers_replace_ours_of_the_same_name() -> None:
    request = Request("GET", HERE, (("accept", "text/plain"), ("USER-AGENT", "me")))

    assert request.headers() == [
        ("Host", "127.0.0.1:8080"),
        ("Accept-Encoding", "gzip, deflate"),
        ("accept", "text/plain"),
        ("USER-AGENT", "me"),
        ("Connection", "close"),
    ]


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        ("GET", None, None),
        ("GET", b"", "0"),
        ("GET", b"abc", "3"),
        ("POST", None, "0"),
        ("DELETE", None, None),
    ],
)
def test_the_length_is_sent_where_a_body_is_or_is_expected(
    method: str, body: bytes | None, length: str | None
) -> None:
    sent = dict(Request(method, HERE, body=body).headers())

    assert sent.get("Content-Length") == length


def test_the_host_header_keeps_brackets_and_the_trailing_dot() -> None:
    hosts = [
        dict(Request("GET", parse_url(url)).headers())["Host"]
        for url in ("http://[::1]:81/", "http://localhost./")
    ]

    assert hosts == ["[::1]:81", "localhost."]


def test_values_are_trimmed_and_may_be_any_printable_text() -> None:
    assert checked_headers({"X-Name": " Grüße\t日本 "}) == (("X-Name", "Grüße\t日本"),)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Host",
            "content-length",
            "Transfer-Encoding",
            "CONNECTION",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Upgrade",
        ),
        *("Expect", "Proxy-Authorization", "proxy-connection", "HTTP2-Settings"),
        *("", "a b", "a:", "a\r\nb", "ä", "x" * 300),
    ],
)
def test_a_name_that_is_ours_or_no_token_is_refused(name: str) -> None:
    with pytest.raises(ToolError) as raised:
        checked_headers({name: "CANARY"})

    assert (raised.value.code, raised.value.field) == ("invalid_arguments", "headers")
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize(
    "value", ["a\r\nX: y", "a\nb", "a\0b", "a\x7f", "\x1b[0m", "\ud800", "\u2028", "a\x85"]
)
def test_a_value_with_control_characters_is_refused_without_being_quoted(value: str) -> None:
    with pytest.raises(ToolError) as raised:
        checked_headers({"X-Name": f"CANARY{value}CANARY"})

    assert (raised.value.code, raised.value.field) == ("invalid_arguments", "headers")
    assert "CANARY" not in str(raised.value)


def test_more_headers_than_the_limit_are_refused() -> None:
    with pytest.raises(ToolError, match="at most 64 headers"):
        checked_headers({f"X-{number}": "a" for number in range(65)})


@pytest.mark.parametrize(
    "name",
    ["Metadata", "metadata-flavor", "X-aws-ec2-metadata-token", "X-aws-ec2-metadata-token-ttl-seconds"],
)
def test_a_header_that_unlocks_metadata_services_is_refused_by_policy(name: str) -> None:
    with pytest.raises(PolicyRefused) as raised:
        checked_headers({name: "true"})

    assert raised.value.details is not None
    assert (raised.value.details["header"], raised.value.details["rule"]) == (name, "forbidden_header")


@pytest.mark.parametrize(
    ("method", "status", "after"),
    [
        *(("GET", status, ("GET", b"x")) for status in (301, 302, 307, 308)),
        *(("HEAD", status, ("HEAD", b"x")) for status in (301, 302, 307, 308)),
        *(("PUT", status, ("PUT", b"x")) for status in (301, 302, 307, 308)),
        *(("POST", status, ("POST", b"x")) for status in (307, 308)),
        *(("POST", status, ("GET", None)) for status in (301, 302, 303)),
        ("GET", 303, ("GET", None)),
        ("HEAD", 303, ("HEAD", None)),
        ("PUT", 303, ("GET", None)),
    ],
)
def test_method_and_body_of_the_next_hop(method: str, status: int, after: tuple[str, bytes | None]) -> None:
    following, _ = redirected(Request(method, HERE, body=b"x"), HERE, status)

    assert (following.method, following.body) == after


def test_the_type_of_a_body_goes_where_the_body_goes() -> None:
    request = Request("POST", HERE, (("Content-Type", "a/b"), ("X-Api-Key", "CANARY")), b"x")

    after, dropped = redirected(request, HERE, 303)

    assert (after.given, dropped) == ((("X-Api-Key", "CANARY"),), ())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8081/", "http://localhost:8080/", "https://127.0.0.1:8080/"]
)
def test_another_origin_gets_no_header_that_may_be_a_secret(url: str) -> None:
    request = Request("GET", HERE, (("Accept", "a/b"), *SECRETS))

    after, dropped = redirected(request, parse_url(url), 302)

    assert after == Request("GET", parse_url(url), (("Accept", "a/b"),))
    assert dropped == ("Authorization", "Cookie", "X-Api-Key")


def test_the_same_origin_keeps_every_header() -> None:
    there = parse_url("http://127.0.0.1:8080/elsewhere")

    assert redirected(Request("GET", HERE, SECRETS), there, 302) == (Request("GET", there, SECRETS), ())
