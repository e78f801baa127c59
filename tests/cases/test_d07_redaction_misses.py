"""D07: secrets that other redactors missed (remoteclaw#2847, xagent#2356, LibreChat#15470, opal#921)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

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


def traces(folder: Path) -> list[str]:
    """The files outside `keys` that have the secret in them, in whatever case an index may keep it."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "keys"]
    assert len(files) >= 3
    return [path.name for path in files if CANARY.lower().encode() in path.read_bytes().lower()]


@pytest.mark.parametrize(("text", "expected"), MISSED.values(), ids=MISSED)
def test_d07_a_claim_and_its_retraction_lose_the_secret_and_keep_their_shape(
    text: str, expected: str, clerk: Any, tmp_path: Path
) -> None:
    desk = clerk()
    desk.redactor = REDACTOR
    note = {"type": "note", "text": text}
    told = desk.ask("assert", statement=text, observed_by="anna", evidence=[note])
    gone = desk.ask("retract", claim_id=told["claim_id"], reason=text)
    found = desk.ask("query", retracted="include", detail="full")
    events = desk.ask("history", claim_id=told["claim_id"])
    desk.close()

    assert (told["statement"], told["evidence"][0]["text"], gone["reason"]) == (expected,) * 3
    assert found["claims"][0]["evidence"][0]["text"] == events["events"][0]["event"]["statement"] == expected
    assert CANARY not in json.dumps([told, gone, found, events])
    assert traces(tmp_path / "data") == []


def test_d07_the_short_texts_of_a_claim_are_masked_and_still_found_by(clerk: Any, tmp_path: Path) -> None:
    desk = clerk()
    secret = f"token={CANARY}"
    short = {"observed_by": secret, "source": secret, "idempotency_key": secret, "tags": [secret]}
    told = desk.ask("assert", statement="x answers", **short)
    again = desk.ask("assert", statement="x answers", **short)
    found = desk.ask("query", observed_by=secret, tags=[secret], any_tags=[secret])
    gone = desk.ask("retract", claim_id=told["claim_id"], reason="wrong", retracted_by=secret)
    desk.close()

    assert (again["created"], again["claim_id"]) == (False, told["claim_id"])
    assert [claim["claim_id"] for claim in found["claims"]] == [told["claim_id"]]
    assert CANARY not in json.dumps([told, again, found, gone])
    assert all("[redacted:" in told[name] for name in ("observed_by", "source", "idempotency_key"))
    assert traces(tmp_path / "data") == []


def test_d07_a_private_key_over_several_notes_is_masked(clerk: Any, tmp_path: Path) -> None:
    desk = clerk()
    half = KEY.index(CANARY)
    notes = [{"type": "note", "text": text} for text in (KEY[:half], KEY[half:])]
    told = desk.ask("assert", statement="the key lies open", observed_by="anna", evidence=notes)
    desk.close()

    assert "[redacted:" in told["evidence"][0]["text"]
    assert CANARY not in json.dumps(told)
    assert traces(tmp_path / "data") == []


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "an instant": ("query", {"asserted_after": f"token={CANARY}"}),
    "a target": ("query", {"target": f"http://user:{CANARY}@h.test/"}),
    "an expression": ("query", {"text": f'"token={CANARY}'}),
    "a cursor": ("query", {"cursor": f"token={CANARY}"}),
    "an order": ("query", {"order": f"token={CANARY}"}),
    "an argument that nobody knows": ("query", {f"token={CANARY}": 1}),
    "a project": ("query", {"project": f"token={CANARY}"}),
    "a claim": ("history", {"claim_id": f"token={CANARY}"}),
    "a claim to take back": ("retract", {"claim_id": f"token={CANARY}", "reason": "wrong"}),
    "a kind of evidence": (
        "assert",
        {"statement": "x", "observed_by": "a", "evidence": [{"type": f"token={CANARY}"}]},
    ),
    "a measurement": (
        "assert",
        {
            "statement": "x",
            "observed_by": "a",
            "evidence": [{"type": "observation", "observation_id": f"token={CANARY}"}],
        },
    ),
}


@pytest.mark.parametrize(("name", "arguments"), REFUSED.values(), ids=REFUSED)
def test_d07_a_refused_call_does_not_quote_its_secret(
    name: str, arguments: dict[str, Any], clerk: Any
) -> None:
    refused = clerk().ask(name, **arguments)

    assert refused["code"] in ("invalid_arguments", "not_found")
    assert CANARY not in json.dumps(refused)
