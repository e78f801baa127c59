"""Headers whose value is a secret, as fields and as lines of a text."""

from __future__ import annotations

import pytest

from app.redact.headers import header_kind, header_lines, value_secrets
from app.redact.spans import Kind

KINDS: dict[str, Kind | None] = {
    "Authorization": "authorization",
    "PROXY-AUTHORIZATION": "proxy-authorization",
    "cookie": "cookie",
    "Set-Cookie": "set-cookie",
    "X-Api-Key": "api-key",
    "api-key": "api-key",
    "x-auth-token": "api-key",
    "X-Amz-Security-Token": "api-key",
    "x-csrf-token": "api-key",
    "Private-Token": "api-key",
    "x-goog-api-key": "api-key",
    "Ocp-Apim-Subscription-Key": "api-key",
    "X-Secret-Stuff": "api-key",
    "X-TokenInfo": "api-key",
    "X-ApiKey-Primary": "api-key",
    "X-Token-Count": None,
    "X-Next-Token-Page": None,
    "X-RateLimit-Remaining-Tokens": None,
    "Access-Control-Allow-Credentials": None,
    "a secret sentence": None,
    "": None,
    "WWW-Authenticate": None,
    "Location": None,
    "ETag": None,
    "Code": None,
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items(), ids=KINDS)
def test_the_name_of_a_header_says_what_its_value_is(name: str, kind: Kind | None) -> None:
    assert header_kind(name) == kind


VALUES: dict[str, tuple[Kind, str, list[str]]] = {
    "a known scheme stays": ("authorization", "Bearer  a b ", ["a b"]),
    "a scheme in any case stays": (
        "authorization",
        "AWS4-HMAC-SHA256 Credential=x, Signature=y",
        ["Credential=x, Signature=y"],
    ),
    "a scheme before a comma stays": ("authorization", "Digest,x=1", ["x=1"]),
    "an unknown scheme may be a secret": ("authorization", "Custom secret", ["Custom secret"]),
    "no scheme": ("proxy-authorization", " secret", ["secret"]),
    "a scheme that only begins alike": ("authorization", "Bearerish x", ["Bearerish x"]),
    "a scheme alone": ("authorization", "Negotiate", []),
    "nothing": ("authorization", " ", []),
    "an api key": ("api-key", " Bearer x ", ["Bearer x"]),
    "cookies": ("cookie", "a=1; b=x=y ;c", ["1", "x=y", "c"]),
    "a cookie with the name of an attribute": ("cookie", "a=; path=x", ["x"]),
    "an empty cookie": ("cookie", "a=; b= ", []),
    "a set cookie": (
        "set-cookie",
        "path=x; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure; b=y",
        ["x", "y"],
    ),
    "set cookies joined by a comma": (
        "set-cookie",
        "a=1; Path=/, b=x; HttpOnly, c=y; Max-Age=1, d = z",
        ["1", "x", "y", "z"],
    ),
}


@pytest.mark.parametrize(("kind", "value", "secrets"), VALUES.values(), ids=VALUES)
def test_the_secret_parts_of_a_value_are_found(kind: Kind, value: str, secrets: list[str]) -> None:
    found = list(value_secrets(kind, value))

    assert [value[span.start : span.end] for span in found] == secrets
    assert {span.kind for span in found} <= {kind}


def test_only_the_given_range_of_a_text_is_a_value() -> None:
    text = 'x "Bearer abc" y'

    assert [text[span.start : span.end] for span in value_secrets("authorization", text, 3, 13)] == ["abc"]


LINES = {
    "one a line": ("Authorization: Bearer a1\r\nCookie: a=b2\r\n", ["a1", "b2"]),
    "a tab": ("authorization:Bearer\ta1", ["a1"]),
    "joined by bars": ("cookie: a=b|c; d=e|authorization: Basic f|x: y", ["b|c", "e", "f"]),
    "joined by commas": ("Authorization: Bearer a1,Host: x", ["a1"]),
    "quoted in a command": ("-H 'Authorization: Bearer a1' -H \"Cookie: a=b'c\" x", ["a1", "b'c"]),
    "in a literal of bytes": ("b'Cookie: a=b2\\r\\nHost: x'", ["b2"]),
    "in a string": ('"GET / Cookie: a=b2", "next"', ["b2"]),
    "with quoted parameters": ('Authorization: Digest a="b c", d="e"\nx', ['a="b c", d="e"']),
    "a quoted cookie": ('Cookie: a="b2"; c=d', ['"b2"', "d"]),
    "an apostrophe in a cookie": ("Cookie: a=it's; b=c", ["it's", "c"]),
    "padding before a quotation mark": ('log: "x Authorization: Basic a2==","next": 1', ["a2=="]),
    "folded after the scheme": ("Authorization: Bearer\r\n s3cret\r\nHost: x", ["s3cret"]),
    "an indented header after the scheme": ("  Authorization: Bearer\n  Host: x1", []),
    "quoted after the scheme": ('Authorization: Bearer "s3cret", x', ["s3cret"]),
    "a string that ends after the scheme": ('{"a": "Authorization: Bearer ":true,"b": "c"}', []),
    "no scheme": ("authorization: secret", ["secret"]),
    "no scheme before other words": ("authorization: s3cret and more words", ["s3cret"]),
    "an unknown scheme": ("authorization: Custom s3cret", ["Custom", "s3cret"]),
    "an unknown scheme before other words": ("authorization: Custom s3cret status 200", ["s3cret"]),
    "a known scheme before other words": ("authorization: Bearer s3cret is status 200", ["s3cret"]),
    "a cookie without a name": ("Cookie: s3cret", ["s3cret"]),
    "an equals sign": ("AUTHORIZATION=Bearer a1", ["a1"]),
    "a forwarded one": ("X-Forwarded-Authorization: token a1", ["a1"]),
}


@pytest.mark.parametrize(("text", "secrets"), LINES.values(), ids=LINES)
def test_headers_in_a_text_are_found(text: str, secrets: list[str]) -> None:
    assert [text[span.start : span.end] for span in header_lines(text)] == secrets


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: required",
        "Authorization: see the manual first",
        "Authorization: Bearer token is missing here",
        "Cookie: we use cookies",
        "Authorization:",
        "authorization == x",
        "WWW-Authenticate: Basic x",
        "re-authorization: x1",
        "Authorization: Basic",
        "Authorization: none.",
        "nothing",
        'document.cookie = "a=b"',
    ],
)
def test_sentences_about_headers_are_left_alone(text: str) -> None:
    assert list(header_lines(text)) == []
