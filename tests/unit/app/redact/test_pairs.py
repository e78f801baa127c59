"""Values beside sensitive names."""

from __future__ import annotations

import pytest

from app.redact.pairs import named_values

PAIRS = {
    "a query": ("http://h/?a=1&token=s3&b=2", ["s3"]),
    "a query before a fragment": ("/?token=s3#top", ["s3"]),
    "a form": ("password=a+b&x=1", ["a+b"]),
    "after a semicolon": ("/?a=1;token=s3;b=2", ["s3"]),
    "after a comma": ("?state=x,token=s3,b=2", ["s3"]),
    "commas in a value": ("?token=a,b&c=1", ["a,b"]),
    "a hash in a value": ("password=a#b", ["a#b"]),
    "padding": ("AccountKey=ab==;x=1", ["ab=="]),
    "in a sentence": ("with token=s3, which (secret=x9) failed.", ["s3", "x9"]),
    "spaces around": ("token = s3", ["s3"]),
    "JSON": ('{"token":"s3","a":1}', ["s3"]),
    "JSON with an escape": ('{"token": "a\\"b"}', ['a\\"b']),
    "JSON with spaces": ('{"token" : \n "s3"}', ["s3"]),
    "a number": ('{"token": 17, "a": 2}', ["17"]),
    "a negative number": ('{"token": -17.5}', ["-17.5"]),
    "a literal": ("{'token': 's3'}", ["s3"]),
    "a hash rocket": (":token => 's3'", ["s3"]),
    "an assignment": ("token := `s3`", ["s3"]),
    "a word in quotes": ('password: "required" token: "s3"', ["s3"]),
    "a cut string": ('{"token": "s3', ["s3"]),
    "a cut string before another line": ("token='s3\nx", ["s3"]),
    "a list": ('"tokens": ["a", 1, "b"], "x": "y"', ["a", "b"]),
    "a list of numbers": ('"secret": [1, -2.5, true, null]', ["1", "-2.5"]),
    "a nested object": ('"auth": {"a": {"b": ["c"]}, "d": 1}, "x": "y"', ["c", "1"]),
    "a cut object": ('"auth": {"a": "b", "c": "d', ["b", "d"]),
    "bare words in an object": ("auth={a: s3cret}", ["s3cret"]),
    "a pass": ("DB_PASS=hunter2", ["hunter2"]),
    "a numbered name": ("password2=s3&token[1]=s4", ["s3", "s4"]),
    "YAML": ("a: b\n  - password: simple\nc: d", ["simple"]),
    "a block in YAML": ("a:\n  token: |\n    s3\n    s4\n  b: c", ["s3\n    s4"]),
    "a folded block in YAML": ("token: >-\r\n s3\r\nb: c", ["s3"]),
    "a header": ("x-api-key: simple words", ["simple"]),
    "headers joined by bars": ("x-api-key: s1|x-api-key: s2", ["s1", "s2"]),
    "a bar in a value": ("x-api-key: s1|s2", ["s1|s2"]),
    "a sentence with a secret": ("the password: hunter2 was wrong", ["hunter2"]),
    "two words as a name": ("api key: s3cret9 and", ["s3cret9"]),
    "an authorization in JSON": ('{"Authorization": "Bearer s3"}', ["s3"]),
    "an authorization in an object": ('{"Authorization": ["Bearer s3"]}', ["Bearer s3"]),
    "a cookie in JSON": ('{"Cookie": "a=b; c=d"}', ["b", "d"]),
    "a bare cookie": ("cookie=s3", ["s3"]),
    "a code in a query": ("?code=a1B2&state=x", ["a1B2"]),
    "a code in a fragment": ("#code=a1B2", ["a1B2"]),
    "a code at the beginning of a form": ("code=a1B2&x=y", ["a1B2"]),
    "a name in a longer name": ("?user[password]=s3", ["s3"]),
    "the last of nested names": ("secret=token=s3", ["token=s3"]),
}


@pytest.mark.parametrize(("text", "secrets"), PAIRS.values(), ids=PAIRS)
def test_the_value_of_a_sensitive_name_is_found(text: str, secrets: list[str]) -> None:
    assert [text[span.start : span.end] for span in named_values(text)] == secrets


@pytest.mark.parametrize(
    "text",
    [
        "token=null",
        "token=",
        "token: it expires",
        "password: required",
        "tokens: 17",
        "pass: 12 fail: 0",
        "pass=17",
        "pass: 98.5%",
        "pass: 12/13",
        "pass: ok",
        "pass: all of them",
        "compass=north7",
        "bypass=a1",
        "passed: a1",
        "token_count=17",
        "tokens=1.5",
        "secret: false",
        '"auth":"basic","signature": "RS256"',
        "token=${TOKEN}",
        "PWD=/home/user1",
        "code: 404",
        "code: |\n  a1B2",
        '"code": "a1B2"',
        "code: a1B2",
        "exit code=a1B2",
        "?code=404",
        "?code=not_found",
        '"token": null',
        '"token": ""',
        '"token": {}',
        "token == [1]",
        "key: value",
        "token://host",
        "the token is s3cret",
        "no pair",
        '"code": {"a": "b"}',
        '"tokens": [1, 2]',
        "a note on password: must be long",
        '"secret": [true, null]',
        "token=)",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert list(named_values(text)) == []


def test_the_kind_says_whether_it_was_a_parameter_or_a_field() -> None:
    assert [span.kind for span in named_values('token=s3 password: "x" cookie=c')] == [
        "parameter",
        "field",
        "cookie",
    ]
