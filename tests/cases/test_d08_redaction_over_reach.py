"""D08: evidence that other redactors ruined (agentcairn#168, homeboy#10521, openclaw#12966, mergeCraft#537)."""

from __future__ import annotations

from typing import Any

import pytest

from app.redact import Redactor

REDACTOR = Redactor(b"a key of the cases")

INNOCENT = {
    "a digest of 40 digits": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "a digest of 64 digits": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "a UUID": "123e4567-e89b-12d3-a456-426614174000",
    "a ULID": "01K5Z9K2QX7T4BVWRM3P8QJHYD",
    "an id of ours": "o_01K5Z9K2QX7T4BVWRM3P8QJHYD c_01K5Z9K2QX7T4BVWRM3P8QJHYE",
    "a PNG in base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg",
    "a long identifier": "setDefaultModelAndProvider",
    "a limit": "max_tokens: 4096",
    "a count": "token_count=17",
    "a sentence about basic": "Basic auth is enabled",
    "a sentence about tokens": "The auth token of a session is a secret; a token that expired is not.",
    "a challenge": 'WWW-Authenticate: Basic realm="x"',
    "an entity tag": 'ETag: "686897696a7c876b7e"',
    "a nonce": "Content-Security-Policy: script-src 'self' 'nonce-abc'",
    "a public certificate": "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUJZ8q0bJ0\n-----END CERTIFICATE-----\n",
    "a path": "https://ok.test/author/token-ring",
    "a key": "key: value",
    "a status": "code: 404",
    "a status in JSON": '{"code": 200, "error": {"code": "refused"}}',
    "a pass count": "pass=17 fail=0",
    "a pass count with colons": "pass: 12 fail: 0",
    "words that end like a name": "compass=north7 bypass=on1 passed: 7a",
    "a template of a URL": "http://${host}:${port}/@vite/client",
    "a working directory": "PWD=/home/user",
    "an algorithm": "signature: RSA-SHA256",
    "a sort of authentication": '"auth":"basic"',
    "a consent to cookies": "cookie=yes",
    "a fingerprint": "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
}


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_d08_an_innocent_text_is_unchanged_wherever_it_stands(text: str) -> None:
    outcome = (
        REDACTOR.text(text),
        REDACTOR.body(text.encode()),
        REDACTOR.value({"statement": text, text: 1}),
    )

    assert outcome == (text, text.encode(), {"statement": text, text: 1})


def test_d08_a_template_of_a_secret_is_unchanged() -> None:
    text = "token=${TOKEN} password: {{ secrets.password }}"

    assert REDACTOR.text(text) == text


def test_d08_a_schema_of_a_secret_is_unchanged_and_a_secret_inside_is_masked() -> None:
    schema = {"password": {"type": "string", "minLength": 8, "description": "Of the account."}}

    assert REDACTOR.value(schema) == schema
    assert "hunter2" not in str(REDACTOR.value({"password": {"type": "string", "default": "hunter2hunter2"}}))
    assert "hunter2" not in str(REDACTOR.value({"password": {"type": "string", "value": "hunter2hunter2"}}))


def test_d08_innocent_headers_are_unchanged() -> None:
    headers = [
        ["WWW-Authenticate", 'Basic realm="x"'],
        ["ETag", '"686897696a7c876b7e"'],
        ["X-Request-Id", "a1B2c3D4"],
    ]

    assert REDACTOR.headers(headers) == headers


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_d08_a_claim_of_an_innocent_text_is_unchanged_wherever_it_stands(text: str, clerk: Any) -> None:
    desk = clerk()
    short = {"observed_by": text, "source": text, "tags": [text[:128]]}
    told = desk.ask("assert", statement=text, evidence=[{"type": "note", "text": text}], **short)
    gone = desk.ask("retract", claim_id=told["claim_id"], reason=text, retracted_by=text)
    (found,) = desk.ask("query", retracted="only", tags=[text[:128]], detail="full")["claims"]
    events = desk.ask("history", claim_id=told["claim_id"])["events"]

    for claim in (told, found, events[0]["event"]):
        assert (claim["statement"], claim["evidence"][0]["text"]) == (text, text)
        assert (claim["observed_by"], claim["source"], claim["tags"]) == (text, text, [text[:128]])
    assert (gone["reason"], gone["retracted_by"], events[1]["event"]["reason"]) == (text,) * 3
