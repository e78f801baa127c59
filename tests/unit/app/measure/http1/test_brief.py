"""Brief leaves out what an agent rarely reads, and never what tells success from failure."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.measure.http1.brief import brief

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


def test_brief_keeps_the_attempt_that_was_used_when_another_failed(data: dict[str, Any]) -> None:
    assert [attempt["ip"] for attempt in data["attempts"]] == ["10.0.0.1", "10.0.0.2"]
    assert [attempt["ip"] for attempt in brief(data)["attempts"]] == ["10.0.0.2"]


def test_brief_leaves_out_what_the_peer_says_already(measure: Measure, script: Script) -> None:
    kept = brief(measure("http://10.0.0.2/", script({("10.0.0.2", 80): [OK]})).data)

    assert ("attempts" in kept, "resolution" in kept, kept["peer"]["address"]) == (False, False, "10.0.0.2")


def test_brief_keeps_every_attempt_when_none_was_used(measure: Measure, script: Script) -> None:
    network = script({}, {"svc.test": [["10.0.0.1", "10.0.0.2"]]})

    assert len(brief(measure("http://svc.test/", network).data)["attempts"]) == 2


def test_brief_leaves_out_what_only_full_has_and_what_is_empty(data: dict[str, Any]) -> None:
    left_out = {*data} - {*brief(data)}

    assert left_out == {
        *("policy", "local", "body_sha256", "headers_latin1", "content_encoding", "hops"),
        *("body_charset", "redirect", "tls", "tcp_info", "clock", "load", "raw_head", "arrivals"),
        *("deviations", "informational", "trailers", "samples", "by_address", "extra_bytes"),
    }


def test_brief_keeps_nulls_that_say_something(data: dict[str, Any]) -> None:
    kept = brief(data)

    assert list(kept["timings"]) == TIMINGS
    assert (kept["timings"]["tls_ms"], kept["body"], kept["body_encoding"]) == (None, None, "json")


def test_brief_of_a_failure_says_that_there_is_no_status(measure: Measure, script: Script) -> None:
    kept = brief(measure("http://10.0.0.9/", script({})).data)

    assert (kept["http_status"], kept["content_length"], "reason" in kept) == (None, None, False)


def test_brief_shortens_every_hop_and_leaves_out_the_last_which_is_the_top(
    measure: Measure, script: Script
) -> None:
    moved = b"HTTP/1.1 302 X\r\nLocation: http://10.0.0.2/\r\nContent-Length: 0\r\n\r\n"
    network = script({("10.0.0.1", 80): [moved], ("10.0.0.2", 80): [OK]})

    hops = brief(measure("http://10.0.0.1/", network, follow_redirects=True).data)["hops"]

    assert [{"policy", "local", "body_sha256", "error"} & {*hop} for hop in hops] == [set()]


def test_brief_cuts_long_texts_of_the_target_and_says_so(data: dict[str, Any]) -> None:
    url = "http://127.0.0.1/" + "x" * 5000
    redirect = {"location": url, "refused_by": {"url": url, "rule": "never"}}
    long = {**data, "headers": [["Location", url]], "redirect": redirect, "body": url}

    short = brief(long)

    cut = url[:1024] + "… (5017 characters; detail full has all)"
    assert short["headers"] == [["Location", cut]]
    assert short["redirect"] == {"location": cut, "refused_by": {"url": cut, "rule": "never"}}
    assert short["body"] == url


LEAF = {"subject": "leaf", "issuer": "ca", "san": {"dns": ["a"], "ip": []}, "serial": "1", "sha256": "x"}
FAILED = {
    "mode": "strict",
    "store": "/ca.pem",
    "code": 10,
    "text": "expired",
    "depth": 0,
    "host_checked": "a",
}


@pytest.mark.parametrize(
    ("verify", "kept"),
    [({**FAILED, "code": 0, "text": "ok"}, {"mode": "strict", "code": 0}), (FAILED, FAILED)],
)
def test_brief_says_whose_certificate_it_is_and_what_is_wrong_with_it(
    data: dict[str, Any], verify: dict[str, Any], kept: dict[str, Any]
) -> None:
    tls = {
        "version": "TLSv1.3",
        "alert": None,
        "client_cert_requested": False,
        "chain": [LEAF, {"subject": "issuer"}],
        "verified_chain": [{"subject": "leaf"}],
        "verify": verify,
    }

    assert brief({**data, "tls": tls})["tls"] == {
        "version": "TLSv1.3",
        "chain": [{"subject": "leaf", "issuer": "ca", "san": {"dns": ["a"]}}],
        "verify": kept,
    }


def test_brief_of_a_failed_handshake_has_no_leaf(data: dict[str, Any]) -> None:
    verify = {
        "mode": "strict",
        "store": "none",
        "code": None,
        "text": None,
        "depth": None,
        "host_checked": "a",
    }

    assert brief({**data, "tls": {"version": None, "chain": [], "verify": verify}})["tls"] == {
        "verify": verify
    }


def test_brief_says_how_a_text_was_read_unless_that_is_plain(data: dict[str, Any]) -> None:
    plain = {"name": "utf-8", "from": "default", "replaced": False}

    kept = [brief({**data, "body_charset": each}) for each in (plain, {**plain, "replaced": True})]

    assert ["body_charset" in each for each in kept] == [False, True]


def test_brief_does_not_touch_what_is_stored(data: dict[str, Any]) -> None:
    before = msgspec.json.encode(data)

    brief(data)

    assert msgspec.json.encode(data) == before


def test_a_brief_answer_of_a_small_body_is_small(data: dict[str, Any]) -> None:
    assert len(msgspec.json.encode(brief(data))) < 1500


def test_brief_of_a_failed_lookup_has_no_attempts(measure: Measure, script: Script) -> None:
    kept = brief(measure("http://gone.test/", script({}, {"gone.test": ["name_not_found"]})).data)

    assert ("attempts" in kept, "peer" in kept, kept["timings"]["connect_ms"]) == (False, False, None)


def test_brief_cuts_whatever_a_target_can_make_long(data: dict[str, Any]) -> None:
    long = [["A", "x" * 60_000]]
    leaf = {**LEAF, "san": {"dns": [f"{number}.test" for number in range(500)]}}
    tls = {"chain": [leaf], "verify": FAILED}

    kept = brief(
        {
            **data,
            "trailers": long,
            "informational": [{"status": 103, "headers": long, "at_ms": 1.0}],
            "tls": tls,
        }
    )

    assert len(msgspec.json.encode(kept)) < 6000
