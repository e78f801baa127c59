"""The literal secrets in the arguments of a call."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from app.redact.arguments import literal_secrets

BASIC = base64.b64encode(b"user:s3cret-word").decode()

ARGUMENTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a bearer token": ({"headers": [["Authorization", "Bearer abc-123"]]}, {"abc-123"}),
    "an unknown scheme": ({"headers": [["Authorization", "Custom abc-123"]]}, {"Custom abc-123", "abc-123"}),
    "basic credentials": (
        {"headers": [("Authorization", f"Basic {BASIC}")]},
        {BASIC, BASIC.rstrip("="), "user:s3cret-word", "s3cret-word"},
    ),
    "headers as an object": ({"headers": {"X-Api-Key": "abc-123"}}, {"abc-123"}),
    "cookies": ({"headers": [["Cookie", "a=abc-123; b=def-456; c=x"]]}, {"abc-123", "def-456"}),
    "an encoded parameter": ({"url": "http://h.test/?token=a%2Db-123"}, {"a%2Db-123", "a-b-123"}),
    "a password": ({"url": "http://user:abc%20-123@h.test/"}, {"abc%20-123", "abc -123"}),
    "a user alone": ({"url": "http://my-user-token@h.test/"}, {"my-user-token"}),
    "a body": ({"body": '{"password": "abc-123", "x": "abcdefg"}'}, {"abc-123"}),
    "a form": ({"body": "client_secret=abc-123&x=abcdefg"}, {"abc-123"}),
    "a nested field": (
        {"auth": {"user": "someone", "pins": [1234567, True, None, 1.5]}},
        {"someone", "1234567"},
    ),
    "a token in a text": ({"statement": "it is ghp_abcdefgh12"}, {"ghp_abcdefgh12"}),
    "messages": ({"send": ["token=abc-123", {"secret": "def-456"}]}, {"abc-123", "def-456"}),
    "short secrets": ({"headers": [["X-Api-Key", "abcde"]], "password": 12345}, set()),
    "words that would ruin every text": (
        {"headers": [["X-Api-Key", "password"]], "secret": "Required"},
        set(),
    ),
    "masks": (
        {"headers": [["X-Api-Key", "[redacted:api-key:0a1b2c3d]"]], "token": "[redacted:jwt:0a1b2c3d]"},
        set(),
    ),
    "a status": ({"code": "abc-123", "project": "checkout", "timeout_ms": 1234567}, set()),
}


CANARY = "Zq7CANARYx9Kd2Lm"
ECHOED = {
    "a parameter after a scheme": ("Authorization", f'Token token="{CANARY}"'),
    "a signature of AWS": (
        "Authorization",
        f"AWS4-HMAC-SHA256 Credential=AKIA1/20260101/r, SignedHeaders=host;x-amz-date, Signature={CANARY}",
    ),
    "a response of Digest": (
        "Authorization",
        f'Digest username="somebody1", realm="a@realm.test", uri="/a/path1", response="{CANARY}"',
    ),
    "credentials that are not encoded": ("Proxy-Authorization", f"Basic user:{CANARY}"),
    "a quoted cookie": ("Cookie", f'a="{CANARY}"'),
    "one of two keys": ("X-Api-Key", f"{CANARY}, other12345"),
    "a key after a name": ("X-Api-Key", f"key={CANARY}"),
    "a key before padding": ("X-Api-Key", f"{CANARY}=="),
    "a key in JSON": ("X-Auth", f'{{"t":"{CANARY}"}}'),
}


@pytest.mark.parametrize(("name", "value"), ECHOED.values(), ids=ECHOED)
def test_a_part_of_a_header_that_may_be_echoed_alone_is_collected(name: str, value: str) -> None:
    assert CANARY in literal_secrets({"headers": [[name, value]]})
    assert CANARY in literal_secrets({"headers": {name: value}})


def test_public_parts_of_a_header_are_not_collected() -> None:
    values = [value for _, value in ECHOED.values()]
    public = {
        "somebody1",
        "a@realm.test",
        "/a/path1",
        "x-amz-date",
        "Credential",
        "SignedHeaders",
        "Signature",
    }

    collected = literal_secrets({"headers": [["Authorization", value] for value in values]})

    assert collected & (public | {"response", "AWS4-HMAC-SHA256", "username"}) == set()


def test_the_name_of_a_parameter_is_not_collected() -> None:
    assert literal_secrets({"headers": [["X-Api-Key", "key9-name=abc-123"]]}) == {
        "key9-name=abc-123",
        "abc-123",
    }


def test_words_of_a_password_that_is_no_header_are_not_collected() -> None:
    assert literal_secrets({"password": "correct horse b4ttery"}) == {"correct horse b4ttery"}


@pytest.mark.parametrize(("arguments", "secrets"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_secrets_of_a_call_are_collected(arguments: dict[str, Any], secrets: set[str]) -> None:
    assert literal_secrets(arguments) == secrets
