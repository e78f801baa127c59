"""D07: secrets that other redactors missed (remoteclaw#2847, xagent#2356, LibreChat#15470, opal#921)."""

from __future__ import annotations

import base64
import json

import pytest

from app.redact import Redactor

REDACTOR = Redactor(b"a key of the cases")
CANARY = "Zq7CANARYx9Kd2Lm"
BASIC = base64.b64encode(f"user:{CANARY}".encode()).decode()
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJ{CANARY}.{CANARY}"
KEY = f"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B{CANARY}\n{CANARY}==\n-----END PRIVATE KEY-----"

PARAMETER = REDACTOR.mask("parameter", CANARY)
FIELD = REDACTOR.mask("field", CANARY)
AUTHORIZATION = REDACTOR.mask("authorization", CANARY)
SET_COOKIE = REDACTOR.mask("set-cookie", CANARY)
PRIVATE_KEY = REDACTOR.mask("private-key", KEY)

MISSED = {
    "a raw at sign in the password": (
        f"http://user:p@{CANARY}@127.0.0.1:8080/",
        f"http://{REDACTOR.mask('userinfo', f'user:p@{CANARY}')}@127.0.0.1:8080/",
    ),
    "an encoded name": (f"http://h.test/?api%5Fkey={CANARY}", f"http://h.test/?api%5Fkey={PARAMETER}"),
    "a name in upper case": (f"http://h.test/?API_KEY={CANARY}", f"http://h.test/?API_KEY={PARAMETER}"),
    "a parameter after a semicolon": (f"/?a=1;token={CANARY}", f"/?a=1;token={PARAMETER}"),
    "a parameter after a comma": (f"/?state=x,token={CANARY}", f"/?state=x,token={PARAMETER}"),
    "a fragment": (f"http://h.test/#access_token={CANARY}", f"http://h.test/#access_token={PARAMETER}"),
    "a JSON body": (f'{{"refresh_token":"{CANARY}"}}', f'{{"refresh_token":"{FIELD}"}}'),
    "two headers joined by a bar": (
        f"x-api-key: {CANARY}1|x-api-key: {CANARY}2",
        f"x-api-key: {REDACTOR.mask('field', f'{CANARY}1')}|x-api-key: {REDACTOR.mask('field', f'{CANARY}2')}",
    ),
    "basic credentials": (
        f"Authorization: Basic {BASIC}",
        f"Authorization: Basic {REDACTOR.mask('authorization', BASIC)}",
    ),
    "a tab after the scheme": (f"authorization:Bearer\t{CANARY}", f"authorization:Bearer\t{AUTHORIZATION}"),
    "a JWT in a location": (f"Location: /cb?x={JWT}", f"Location: /cb?x={REDACTOR.mask('jwt', JWT)}"),
    "two set-cookie headers": (
        f"Set-Cookie: a={CANARY}; Path=/\r\nSet-Cookie: b={CANARY}; Secure",
        f"Set-Cookie: a={SET_COOKIE}; Path=/\r\nSet-Cookie: b={SET_COOKIE}; Secure",
    ),
    "a PEM key": (f"before\n{KEY}\nafter", f"before\n{PRIVATE_KEY}\nafter"),
    "a PEM key in JSON": (json.dumps({"pem": KEY}), json.dumps({"pem": PRIVATE_KEY})),
}


@pytest.mark.parametrize(("text", "expected"), MISSED.values(), ids=MISSED)
def test_d07_a_text_loses_the_secret_and_keeps_its_shape(text: str, expected: str) -> None:
    assert REDACTOR.text(text) == expected


@pytest.mark.parametrize(("text", "expected"), MISSED.values(), ids=MISSED)
def test_d07_a_body_loses_the_secret_and_keeps_its_shape(text: str, expected: str) -> None:
    assert REDACTOR.body(text.encode()) == expected.encode()


@pytest.mark.parametrize(("text", "expected"), MISSED.values(), ids=MISSED)
def test_d07_evidence_loses_the_secret_and_keeps_its_shape(text: str, expected: str) -> None:
    assert REDACTOR.value({"evidence": [text, 1]}) == {"evidence": [expected, 1]}


def test_d07_headers_lose_the_secrets_and_keep_their_names() -> None:
    headers = [
        ["Set-Cookie", f"a={CANARY}; Path=/"],
        ["set-cookie", f"b={CANARY}"],
        ["Location", f"/#token={CANARY}"],
    ]

    assert REDACTOR.headers(headers) == [
        ["Set-Cookie", f"a={SET_COOKIE}; Path=/"],
        ["set-cookie", f"b={SET_COOKIE}"],
        ["Location", f"/#token={PARAMETER}"],
    ]


def test_d07_a_secret_of_the_call_is_masked_where_no_pattern_would_see_it() -> None:
    known = REDACTOR.secrets_in({"headers": [["Authorization", f"Bearer {CANARY}"]]})

    redacted = REDACTOR.text(f"bad value {CANARY} in argument 3", known)

    assert redacted == f"bad value {REDACTOR.mask('known', CANARY)} in argument 3"


def test_c10_the_three_credentials_of_a_redirected_call_are_masked_in_its_arguments() -> None:
    sent = [["Authorization", CANARY], ["Cookie", CANARY], ["X-Api-Key", CANARY]]

    assert REDACTOR.headers(sent) == [
        ["Authorization", AUTHORIZATION],
        ["Cookie", REDACTOR.mask("cookie", CANARY)],
        ["X-Api-Key", REDACTOR.mask("api-key", CANARY)],
    ]
