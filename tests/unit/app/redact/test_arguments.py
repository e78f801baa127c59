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
        {BASIC, "user:s3cret-word", "s3cret-word"},
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


@pytest.mark.parametrize(("arguments", "secrets"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_secrets_of_a_call_are_collected(arguments: dict[str, Any], secrets: set[str]) -> None:
    assert literal_secrets(arguments) == secrets
