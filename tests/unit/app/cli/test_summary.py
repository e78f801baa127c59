"""A measurement for a person: the headline, what stands around it, and the waterfall."""

from __future__ import annotations

from typing import Any

from app.cli.summary import summary, waterfall

TIMINGS = {
    "resolve_ms": None,
    "connect_ms": 1.0,
    "tls_ms": None,
    "send_ms": 0.0,
    "first_byte_ms": 2.0,
    "head_ms": 0.0,
    "body_ms": 1.0,
    "other_ms": 0.0,
    "total_ms": 4.0,
}


def answered(**data: Any) -> dict[str, Any]:
    facts = {
        "method": "GET",
        "target": {"input": "http://127.0.0.1:8000/"},
        "http_status": 200,
        "reason": "OK",
        "http_version": "1.1",
        "timings": TIMINGS,
        "peer": {"address": "127.0.0.1", "port": 8000},
        "resolution": {"addresses": [{"ip": "127.0.0.1", "class": "loopback"}]},
        "body": "one\ntwo",
        "body_encoding": "text",
        "body_bytes": {"encoded": 7, "decoded": 7},
        "complete": True,
    }
    return {
        "project": "default",
        "observation_id": "o_1",
        "observed_at": "2026-09-22T10:14:03.482+02:00",
        "error": None,
        "data": facts | data,
    }


def test_a_bar_begins_where_the_phase_before_it_ended() -> None:
    assert waterfall(TIMINGS, "#", 8) == [
        "  resolve               -",
        "  connect        1.000 ms  ##",
        "  tls                   -",
        "  send           0.000 ms",
        "  first_byte     2.000 ms    ####",
        "  head           0.000 ms",
        "  body           1.000 ms        ##",
        "  other          0.000 ms",
        "  total          4.000 ms",
    ]


def test_an_answer_is_summed_up_with_peer_class_and_body() -> None:
    text = summary(answered(), bar="#")

    assert text.startswith("GET http://127.0.0.1:8000/: HTTP/1.1 200 OK\n")
    assert "  peer       127.0.0.1 port 8000 (loopback)\n" in text
    assert "  body       7 bytes, complete, shown as text\n  | one\n  | two\n" in text


def test_a_failure_names_its_code_and_phase() -> None:
    error = {"code": "refused", "phase": "connect", "message": "nobody listens"}
    text = summary(answered(http_status=None, peer=None) | {"error": error}, bar="#")

    assert text.startswith(
        "GET http://127.0.0.1:8000/: no answer: refused in phase connect: nobody listens\n"
    )
    assert "body " not in text.replace("body_", "").partition("total")[2]


def test_a_failure_after_the_head_is_told_after_the_status() -> None:
    error = {"code": "truncated", "phase": "body", "message": "3 of 10 bytes"}

    text = summary(answered() | {"error": error}, bar="#")

    assert "200 OK, then truncated in phase body: 3 of 10 bytes" in text


def test_an_observation_that_is_not_stored_says_why() -> None:
    answer = answered() | {"observation_id": None, "not_stored": {"reason": "no_space"}}

    assert "not stored: no_space" in summary(answer, bar="#")


def test_every_hop_has_a_waterfall_of_its_own_and_a_refusal_is_named() -> None:
    hops = [{"target": {"input": f"http://127.0.0.1/{n}"}, "timings": TIMINGS} for n in (1, 2)]
    redirect = {"location": "http://10.0.0.1/", "refused_by": {"class": "private", "rule": "outside_profile"}}

    text = summary(answered(hops=hops, redirect=redirect), bar="#")

    assert "hop 1: http://127.0.0.1/1\n" in text
    assert "hop 2: http://127.0.0.1/2\n" in text
    assert "redirect   http://10.0.0.1/ (refused: private, outside_profile)" in text


def test_a_certificate_is_named_with_its_end() -> None:
    tls = {
        "version": "TLSv1.3",
        "cipher": "TLS_AES_128_GCM_SHA256",
        "verify": {"text": "ok"},
        "chain": [{"subject": "CN=x", "not_after": "2027-01-01T00:00:00Z"}],
    }

    text = summary(answered(tls=tls), bar="#")

    assert "  tls        TLSv1.3 TLS_AES_128_GCM_SHA256, ok\n" in text
    assert "  certified  CN=x until 2027-01-01T00:00:00Z\n" in text


def test_a_long_body_is_cut_for_the_terminal_and_says_so() -> None:
    text = summary(answered(body="line\n" * 50, truncated=True), bar="#")

    assert text.endswith("  | … 38 more lines; --json has them\n")
    assert ", cut\n" in text
