"""One hop: facts and error, whatever ended it."""

from __future__ import annotations

from typing import Any

import pytest

Measure = Any
Script = Any
HERE = ("10.0.0.1", 80)
URL = "http://10.0.0.1/a?b"


@pytest.mark.parametrize(
    ("steps", "code", "phase"),
    [
        (["refused"], "refused", "connect"),
        (["unreachable"], "unreachable", "connect"),
        (["timeout"], "timeout", "connect"),
        (["self_connect"], "self_connect", "connect"),
        (["reset"], "reset", "first_byte"),
        (["eof"], "closed_without_answer", "first_byte"),
        ([b"HTTP/1.1 2", "reset"], "reset", "head"),
        ([b"HTTP/1.1 2", "eof"], "truncated", "head"),
        ([b"SSH-2.0-x\r\n", "silence"], "protocol_error", "head"),
    ],
)
def test_what_kept_an_answer_from_coming(
    measure: Measure, script: Script, steps: list[Any], code: str, phase: str
) -> None:
    outcome = measure(URL, script({HERE: steps}))

    assert outcome.ok is False
    assert (outcome.error["code"], outcome.error["phase"]) == (code, phase)
    assert (outcome.data["http_status"], outcome.data["body"], outcome.data["complete"]) == (
        None,
        None,
        False,
    )


def test_a_failed_lookup_is_an_observation(measure: Measure, script: Script) -> None:
    outcome = measure("http://gone.test/", script({}, {"gone.test": ["name_not_found"]}))

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "name_not_found", "resolve")
    assert (outcome.data["peer"], outcome.data["attempts"], outcome.data["target"]["literal"]) == (
        None,
        [],
        False,
    )


def test_an_error_has_its_offset_and_only_facts_that_are_known(measure: Measure, script: Script) -> None:
    body = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"

    error = measure(URL, script({HERE: [body, "eof"]})).error

    at_ms = error.pop("at_ms")
    assert 0 <= at_ms < 5000
    assert error == {
        "code": "truncated",
        "phase": "body",
        "message": "the connection was closed inside the body",
        "received_bytes": 3,
    }


def test_the_facts_of_the_connection_are_kept_when_it_is_reset(measure: Measure, script: Script) -> None:
    data = measure(URL, script({HERE: [b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nabc", "reset"]})).data

    assert data["target"] == {
        "input": URL,
        "scheme": "http",
        "host": "10.0.0.1",
        "port": 80,
        "path": "/a?b",
        "literal": True,
    }
    assert data["policy"]["profile"] == "private"
    assert data["policy"]["checks"] == [
        {"address": "10.0.0.1", "class": "private", "rule": "profile_private", "allowed": True}
    ]
    assert (data["peer"]["address"], data["body"], data["headers"]) == ("10.0.0.1", "abc", [["A", "b"]])
    assert data["bytes"]["received"] == 28
    assert data["bytes"]["sent"] > 50


def test_a_fault_of_the_coding_does_not_hide_what_ended_the_transfer(
    measure: Measure, script: Script
) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"

    outcome = measure(URL, script({HERE: [head + b"no gzip", "eof"]}))

    assert (outcome.ok, outcome.error["code"], outcome.error["expected_bytes"]) == (True, "truncated", 99)


def test_a_fault_of_the_coding_alone_is_the_error(measure: Measure, script: Script) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\n"

    outcome = measure(URL, script({HERE: [head + b"no gzip"]}))

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "protocol_error", "body")
    assert outcome.data["complete"] is True


def test_foreign_bytes_in_a_header_are_marked(measure: Measure, script: Script) -> None:
    head = b"HTTP/1.1 204 \xe4\r\nA: \xc3\xa4\r\nB: \xe4\r\n\r\n"

    data = measure(URL, script({HERE: [head]})).data

    assert (data["headers"], data["headers_latin1"], data["reason"]) == ([["A", "ä"], ["B", "ä"]], [1], "ä")


def test_an_impatient_call_gives_up_on_one_attempt(measure: Measure, script: Script) -> None:
    network = script({HERE: [b"HTTP/1.1 204 X\r\n\r\n"]})

    assert measure(URL, network, connect_timeout_ms=1000).ok


def test_the_connection_is_closed_after_every_hop(measure: Measure, script: Script) -> None:
    network = script({HERE: [b"HTTP/1.1 204 X\r\n\r\n", "silence"]})

    measure(URL, network)

    assert [channel.closed for channel in network.channels] == ["close"]
