"""Brief leaves out what an agent rarely reads, and never what tells success from failure."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.measure.http1.facts import HttpFacts, brief

Measure = Any
Script = Any
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull"
TIMINGS = [
    "resolve_ms",
    "connect_ms",
    "tls_ms",
    "send_ms",
    "first_byte_ms",
    "head_ms",
    "body_ms",
    "other_ms",
    "total_ms",
]


@pytest.fixture
def data(measure: Measure, script: Script) -> dict[str, Any]:
    network = script({("10.0.0.2", 80): [OK]}, {"svc.test": [["10.0.0.1", "10.0.0.2"]]})
    facts: dict[str, Any] = measure("http://svc.test/", network).data
    return facts


def test_brief_keeps_the_attempt_that_was_used(data: dict[str, Any]) -> None:
    assert [attempt["ip"] for attempt in data["attempts"]] == ["10.0.0.1", "10.0.0.2"]
    assert [attempt["ip"] for attempt in brief(data)["attempts"]] == ["10.0.0.2"]


def test_brief_keeps_every_attempt_when_none_was_used(measure: Measure, script: Script) -> None:
    network = script({}, {"svc.test": [["10.0.0.1", "10.0.0.2"]]})

    assert len(brief(measure("http://svc.test/", network).data)["attempts"]) == 2


def test_brief_leaves_out_what_only_full_has_and_what_is_empty(data: dict[str, Any]) -> None:
    left_out = {*data} - {*brief(data)}

    assert left_out == {
        *("policy", "local", "body_sha256", "headers_latin1", "content_encoding", "hops"),
        *("body_charset", "redirect", "tls"),
    }


def test_brief_keeps_nulls_that_say_something(data: dict[str, Any]) -> None:
    kept = brief(data)

    assert list(kept["timings"]) == TIMINGS
    assert (kept["timings"]["tls_ms"], kept["body"], kept["body_encoding"]) == (None, None, "json")


def test_brief_of_a_failure_says_that_there_is_no_status(measure: Measure, script: Script) -> None:
    kept = brief(measure("http://10.0.0.9/", script({})).data)

    assert (kept["http_status"], kept["content_length"], "reason" in kept) == (None, None, False)


def test_brief_shortens_every_hop(measure: Measure, script: Script) -> None:
    moved = b"HTTP/1.1 302 X\r\nLocation: http://10.0.0.2/\r\nContent-Length: 0\r\n\r\n"
    network = script({("10.0.0.1", 80): [moved], ("10.0.0.2", 80): [OK]})

    hops = brief(measure("http://10.0.0.1/", network, follow_redirects=True).data)["hops"]

    assert [{"policy", "local", "body_sha256", "error"} & {*hop} for hop in hops] == [set(), set()]


def test_brief_cuts_long_texts_of_the_target_and_says_so(data: dict[str, Any]) -> None:
    url = "http://127.0.0.1/" + "x" * 5000
    redirect = {"location": url, "refused_by": {"url": url, "rule": "never"}}
    long = {**data, "headers": [["Location", url]], "redirect": redirect, "body": url}

    short = brief(long)

    cut = url[:1024] + "… (5017 characters; detail full has all)"
    assert short["headers"] == [["Location", cut]]
    assert short["redirect"] == {"location": cut, "refused_by": {"url": cut, "rule": "never"}}
    assert short["body"] == url


def test_brief_keeps_the_leaf_of_a_chain(data: dict[str, Any]) -> None:
    tls = {"version": "TLSv1.3", "chain": [{"subject": "leaf"}, {"subject": "issuer"}]}

    assert brief({**data, "tls": tls})["tls"] == {"version": "TLSv1.3", "chain": [{"subject": "leaf"}]}


def test_brief_does_not_touch_what_is_stored(data: dict[str, Any]) -> None:
    before = msgspec.json.encode(data)

    brief(data)

    assert msgspec.json.encode(data) == before


def test_a_brief_answer_of_a_small_body_is_small(data: dict[str, Any]) -> None:
    assert len(msgspec.json.encode(brief(data))) < 1500


def test_every_field_of_the_schema_says_what_it_is() -> None:
    schema = msgspec.json.schema(HttpFacts)["$defs"]

    assert [name for name, definition in schema.items() if not definition.get("description")] == []


def test_brief_of_a_failed_lookup_has_no_attempts(measure: Measure, script: Script) -> None:
    kept = brief(measure("http://gone.test/", script({}, {"gone.test": ["name_not_found"]})).data)

    assert ("attempts" in kept, "peer" in kept, kept["timings"]["connect_ms"]) == (False, False, None)
