"""Secrets out of an observation: by place in our own structure, by search in what others wrote."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from app.measure.kind import Outcome
from app.redact import Redactor
from app.tools.observation import redacted

CANARY = "c4nary-9f8e7d6c5b4a"
REDACTOR = Redactor(b"k" * 32)


def clean(data: dict[str, Any], arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    event = redacted(REDACTOR, "facts.measure.http", arguments or {}, Outcome(ok=True, data=data), 0)
    assert event.data is not None
    return event.data


def test_headers_are_masked_by_name_in_every_hop() -> None:
    headers = [["Set-Cookie", f"sid={CANARY}; Path=/"], ["ETag", '"abc"']]

    data = clean({"headers": headers, "hops": [{"headers": headers}]})

    assert CANARY not in str(data)
    assert data["headers"][1] == ["ETag", '"abc"']
    assert data["hops"][0]["headers"] == data["headers"]


def test_the_headers_of_the_arguments_are_masked_and_keep_their_names() -> None:
    arguments = {
        "url": "http://127.0.0.1/",
        "headers": {"Authorization": f"Bearer {CANARY}", "Accept": "a/b"},
    }

    event = redacted(REDACTOR, "facts.measure.http", arguments, Outcome(ok=True, data={}), 0)

    assert event.arguments["headers"]["Authorization"].startswith("Bearer [redacted:authorization:")
    assert event.arguments["headers"]["Accept"] == "a/b"


def test_an_echo_of_a_secret_of_the_call_is_masked_where_no_pattern_would_see_it() -> None:
    arguments = {"headers": {"X-Api-Key": CANARY}}

    data = clean({"body": f"you sent {CANARY}, thanks", "body_encoding": "text"}, arguments)

    assert data["body"].startswith("you sent [redacted:")


def test_a_body_of_json_is_masked_by_the_names_of_its_members() -> None:
    data = clean({"body": {"refresh_token": CANARY, "count": 3}, "body_encoding": "json"})

    assert CANARY not in str(data)
    assert data["body"]["count"] == 3


def test_a_body_in_base64_is_searched_as_bytes() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n".encode()
    data = clean({"body": b64encode(b"\x00" + key).decode(), "body_encoding": "base64"})

    assert CANARY.encode() not in b64decode(data["body"])


def test_the_code_of_an_error_is_no_secret() -> None:
    outcome = Outcome(ok=False, data={}, error={"code": "timeout", "phase": "body", "message": "m"})

    event = redacted(REDACTOR, "facts.measure.http", {}, outcome, 0)

    assert event.error == {"code": "timeout", "phase": "body", "message": "m"}


def test_urls_lose_their_secret_parameters_and_keep_their_shape() -> None:
    data = clean({"target": {"input": f"http://h/p?api%5Fkey={CANARY}&n=1"}, "redirect": {"location": "/x"}})

    assert data["target"]["input"].startswith("http://h/p?api%5Fkey=[redacted:")
    assert data["target"]["input"].endswith("&n=1")
    assert data["redirect"]["location"] == "/x"


def test_figures_and_nulls_stay_what_they_are() -> None:
    facts: dict[str, Any] = {
        "timings": {"connect_ms": 0.1, "tls_ms": None},
        "truncated": False,
        "headers": [],
    }

    assert clean(facts) == facts
