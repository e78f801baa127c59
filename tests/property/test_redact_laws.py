"""Laws of redaction: no secret survives in any shape, nothing else changes, twice is once, shape is kept."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.redact import Redactor
from app.redact.scan import DETECTORS

REDACTOR = Redactor(b"a key of the tests")

# Looks like a secret, as secrets do: letters in both cases and digits.
CANARIES = st.text(string.ascii_letters + string.digits, min_size=8, max_size=24).map(
    lambda text: "q7" + text + "Zx"
)


def basic(canary: str) -> str:
    """Basic credentials with the canary as the password."""
    return base64.b64encode(f"user:{canary}".encode()).decode()


def key(canary: str) -> str:
    """A PEM private key with the canary in each of its lines."""
    line = canary.ljust(64, "A")
    return f"-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\n{canary}\n-----END RSA PRIVATE KEY-----\n"


SHAPES: dict[str, Callable[[str], str]] = {
    "a password in a URL": lambda c: f"see http://user:{c}@host.test:80/path.",
    "a password with raw at signs": lambda c: f"http://user:p@{c}@127.0.0.1:1/",
    "a password with a raw slash": lambda c: f"http://user:p/{c}@127.0.0.1:1/",
    "a query parameter": lambda c: f"http://h.test/a?b=1&access_token={c}&d=2",
    "an encoded name": lambda c: f"http://h.test/?api%5Fkey={c}",
    "an upper-case name": lambda c: f"http://h.test/?API_KEY={c}",
    "after a semicolon": lambda c: f"?a=1;token={c}",
    "after a comma": lambda c: f"?state=x,token={c}",
    "a fragment": lambda c: f"http://h.test/#id_token={c}",
    "a URL in a parameter": lambda c: (
        "https://h.test/?next=" + quote(f"https://i.test/?sig={c}&x=1", safe="")
    ),
    "a URL in a parameter, twice": lambda c: "?u=" + quote("?n=" + quote(f"/?token={c}", safe=""), safe=""),
    "a JSON string": lambda c: json.dumps({"a": 1, "refresh_token": c, "b": [True]}),
    "JSON in JSON": lambda c: json.dumps({"a": json.dumps({"password": c})}),
    "JSON in JSON in JSON": lambda c: json.dumps(json.dumps({"a": json.dumps({"clientSecret": c})})),
    "a JSON list": lambda c: json.dumps({"credentials": ["x", {"deep": [c]}], "after": "kept"}),
    "a cut JSON string": lambda c: '{"token": "' + c,
    "a Python literal": lambda c: repr({"password": c}),
    "a YAML line": lambda c: f"user: x\npassword: {c}\nport: 1",
    "an INI line": lambda c: f"[db]\nsecret = {c}\n",
    "a connection string": lambda c: f"Endpoint=sb://x/;SharedAccessKey={c}=;EntityPath=y",
    "an authorization header": lambda c: f"GET / HTTP/1.1\r\nAuthorization: Bearer {c}\r\nHost: x\r\n",
    "an authorization header without a scheme": lambda c: f"authorization: {c}",
    "a tab after the scheme": lambda c: f"authorization:Bearer\t{c}",
    "basic credentials": lambda c: f"Proxy-Authorization: Basic {basic(c)}",
    "basic credentials in prose": lambda c: f"sent with Basic {basic(c)} to it",
    "bearer credentials in prose": lambda c: f"sent with Bearer {c}, then",
    "digest credentials": lambda c: f'Authorization: Digest username="u", response="{c}", uri="/"',
    "headers joined by bars": lambda c: f"x-api-key: {c}1|x-api-key: {c}2|cookie: a={c}|authorization: {c}",
    "cookies": lambda c: f"Cookie: a={c}; b={c}",
    "set cookies": lambda c: f"Set-Cookie: a={c}; Path=/\r\nSet-Cookie: b={c}; HttpOnly",
    "a JWT": lambda c: f"Location: /cb?x=eyJhbGciOiJIUzI1NiJ9.eyJ{c}.{c}",
    "a cut JWT": lambda c: f"eyJhbGciOiJIUzI1NiJ9.{c}",
    "a PEM key": key,
    "a PEM key in JSON": lambda c: json.dumps({"e": key(c)}),
    "a PEM key in JSON in JSON": lambda c: json.dumps(json.dumps({"e": key(c)})),
    "a PEM key without its end": lambda c: key(c)[:-31],
    "a PEM key without its beginning": lambda c: key(c)[32:],
    "a PEM key in JSON fragments": lambda c: "\n".join(
        json.dumps({"d": part}) for part in key(c).splitlines()
    ),
    "a form": lambda c: f"user=x&password={c}&go=1",
    "a multipart form": lambda c: (
        f'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{c}\r\n--b--'
    ),
    "an HTML form": lambda c: f'<input type="hidden" name="csrf_token" value="{c}">',
    "HTML text": lambda c: f"<code>{{&quot;token&quot;: &quot;{c}&quot;}}</code>",
    "an XML element": lambda c: f"<a><password>{c}</password></a>",
    "a HAR header": lambda c: json.dumps({"name": "Authorization", "value": f"Bearer {c}"}),
    "a folded authorization": lambda c: f"Authorization: Bearer\r\n {c}\r\nHost: x\r\n",
    "a quoted token after a scheme": lambda c: f'Authorization: Bearer "{c}"',
    "a URL with backslashes": lambda c: f"http:\\\\a:{c}@h.test/",
    "a user of curl": lambda c: f"curl -u admin:{c} http://h.test/",
    "a YAML block": lambda c: f"a: b\ntoken: |\n  {c}\nc: d",
    "an HTML form with the value first": lambda c: f'<input value="{c}" name="password">',
    "a HAR header with the value first": lambda c: json.dumps({"value": c, "name": "X-Api-Key"}),
    "a reference with a capital": lambda c: f"token&#X3d;{c}",
    "a numbered name": lambda c: f"password2={c}",
    "a pass": lambda c: f"DB_PASS={c}",
    "a command line": lambda c: f"tool --password {c} --verbose",
    "an OAuth code": lambda c: f"https://h.test/cb?code={c}&state=1",
    "a GitHub token": lambda c: f"remote: ghp_{c} is wrong",
    "an Anthropic key": lambda c: f"key sk-ant-api03-{c}",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@settings(max_examples=15)
@given(canary=CANARIES)
def test_a_canary_in_any_shape_never_survives(shape: Callable[[str], str], canary: str) -> None:
    redacted = REDACTOR.text(shape(canary))

    assert canary not in redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@settings(max_examples=15)
@given(canary=CANARIES)
def test_a_canary_in_a_body_never_survives(shape: Callable[[str], str], canary: str) -> None:
    redacted = REDACTOR.body(b"\x00\xff" + shape(canary).encode() + b"\xfe")

    assert canary.encode() not in redacted


@given(canary=CANARIES, around=st.text(" .,\n", max_size=20))
def test_a_known_secret_is_masked_in_every_encoding(canary: str, around: str) -> None:
    spellings = [
        canary,
        "".join(f"%{ord(character):02x}" for character in canary),
        base64.b64encode(f"u:{canary}".encode()).decode(),
        base64.urlsafe_b64encode(f"us:{canary}".encode()).decode(),
        canary.encode().hex(),
        "".join(f"\\u{ord(character):04x}" for character in canary),
    ]

    redacted = REDACTOR.text(around + " ".join(spellings) + around, {canary})

    assert not [spelling for spelling in spellings if spelling in redacted]


@given(secret=st.text(min_size=6, max_size=40), left=st.text(max_size=10), right=st.text(max_size=10))
def test_any_known_secret_is_gone(secret: str, left: str, right: str) -> None:
    redacted = REDACTOR.text(left + secret + right, {secret})

    assert secret not in redacted or secret in "[redacted:known:00000000]"


PIECES = st.sampled_from(
    (
        *"=:;,|&?#@/\\\"'<>[]{}()% \n\t.-_",
        *(
            "token",
            "Authorization",
            "Bearer ",
            "Cookie: ",
            "eyJhbGciOiJIUzI1NiJ9.",
            "http://",
            "user:pw@",
            "code",
        ),
        *(
            "password",
            "curl -u a:",
            "\n  ",
            "ghp_abcdef123",
            "%3D",
            "&amp;",
            "\\n",
            "Basic dTpwYXNz",
            "a1B2c3D4e5",
            "null",
            "404",
            "name=",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0B",
            "known-secret",
        ),
        *("[redacted:jwt:0a1b2c3d]", "set-cookie: a=b; path=/", "value=", "<password>", "x-api-key: "),
    )
)
TANGLES = st.lists(PIECES | st.text(max_size=3), max_size=24).map("".join)


@given(text=TANGLES)
@example(text="")
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = REDACTOR.text(text, {"known-secret"})

    assert REDACTOR.text(once, {"known-secret"}) == once


@given(text=TANGLES)
def test_a_text_that_is_settled_without_the_detectors_has_nothing_for_them(text: str) -> None:
    found = [span for detector in DETECTORS for span in detector(text) if span.start < span.end]

    assert REDACTOR.may_hold(text) or found == []


@given(text=TANGLES)
def test_redacting_a_url_twice_is_redacting_it_once(text: str) -> None:
    once = REDACTOR.url(text)

    assert REDACTOR.url(once) == once


@given(
    name=st.sampled_from(["Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Location", "Host"]),
    value=TANGLES,
)
def test_redacting_headers_twice_is_redacting_them_once(name: str, value: str) -> None:
    once = REDACTOR.headers([[name, value]])

    assert REDACTOR.headers(once) == once


@given(text=TANGLES)
def test_the_same_text_gives_the_same_masks(text: str) -> None:
    assert Redactor(b"one").text(text) == Redactor(b"one").text(text)


@given(
    text=st.text(string.ascii_letters + string.digits + " .,!?-_()\n", max_size=200).filter(
        lambda t: "eyJ" not in t
    )
)
def test_a_text_without_any_trigger_is_unchanged(text: str) -> None:
    assert REDACTOR.text(text) == text


@given(data=st.binary(max_size=200))
def test_bytes_that_hold_no_mask_afterwards_are_the_bytes_before(data: bytes) -> None:
    redacted = REDACTOR.body(data)

    assert redacted == data or b"[redacted:" in redacted or data[:2] in (b"\xff\xfe", b"\xfe\xff")


@given(tail=st.binary(max_size=60), mark=st.sampled_from([b"\xff\xfe", b"\xfe\xff"]))
def test_damaged_utf_16_is_never_refused_nor_changed(tail: bytes, mark: bytes) -> None:
    assert REDACTOR.body(mark + tail) == mark + tail


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TANGLES
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TANGLES, inner, max_size=4)
)


def skeleton(value: Any) -> Any:
    """The containers of a value and how many there are of each; a leaf is None."""
    if isinstance(value, dict):
        return [skeleton(inner) for inner in value.values()]
    return [skeleton(inner) for inner in value] if isinstance(value, list) else None


@settings(max_examples=40)
@given(value=VALUES)
def test_a_value_keeps_its_containers(value: Any) -> None:
    assert skeleton(REDACTOR.value(value)) == skeleton(value)


@settings(max_examples=40)
@given(value=VALUES)
@example(value={"-----BEGIN PRIVATE KEY-----:sMIIEvQIBADANBgkqhkiG9w0B": 0})
def test_redacting_a_value_twice_is_redacting_it_once(value: Any) -> None:
    once = REDACTOR.value(value)

    assert REDACTOR.value(once) == once


@settings(max_examples=40)
@given(
    value=st.recursive(
        CANARIES | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(CANARIES, inner)
    )
)
def test_every_leaf_under_a_sensitive_key_is_masked(value: Any) -> None:
    def leaves(inner: Any) -> list[Any]:
        if isinstance(inner, dict):
            return [leaf for one in inner.values() for leaf in leaves(one)]
        return [leaf for one in inner for leaf in leaves(one)] if isinstance(inner, list) else [inner]

    assert all(str(leaf).startswith("[redacted:field:") for leaf in leaves(REDACTOR.value({"secret": value})))
