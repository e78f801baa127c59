"""The kind: its arguments are checked, its deadline and cancellation leave an observation."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from app.errors import PolicyRefused, ToolError
from app.measure.http import KIND
from app.measure.http1.facts import HttpFacts
from policy import Budget, Rate

Measure = Any
Script = Any
HERE = ("10.0.0.1", 80)
URL = "http://10.0.0.1/"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"


def test_an_answered_request_is_an_observation(measure: Measure, script: Script) -> None:
    network = script({HERE: [b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno"]})

    outcome = measure(URL + "a?b=c", network, method="OPTIONS", headers={"X-A": "1"}, body="hello")

    assert (outcome.ok, outcome.error) == (True, None)
    assert (outcome.data["http_status"], outcome.data["body"]) == (500, "no")
    assert network.received[0].startswith(b"OPTIONS /a?b=c HTTP/1.1\r\nHost: 10.0.0.1\r\n")
    assert network.received[0].endswith(b"\r\nX-A: 1\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")


def test_the_facts_fit_the_published_schema_in_full_and_in_brief(measure: Measure, script: Script) -> None:
    outcome = measure(URL, script({HERE: [EMPTY]}))

    assert msgspec.convert(outcome.data, HttpFacts).kind == "http"
    assert msgspec.convert(KIND.brief(outcome.data), HttpFacts).kind == "http"


def test_every_field_of_the_schema_is_filled_and_no_other(measure: Measure, script: Script) -> None:
    outcome = measure(URL, script({HERE: [EMPTY]}))

    assert sorted(outcome.data) == sorted(field.encode_name for field in msgspec.structs.fields(HttpFacts))


def test_a_refused_target_is_an_error_of_the_call(measure: Measure, script: Script) -> None:
    network = script({})
    with pytest.raises(PolicyRefused):
        measure("http://169.254.169.254/", network)

    assert network.dialled == []


def test_a_spent_budget_is_an_error_of_the_call(measure: Measure, script: Script) -> None:
    network = script({HERE: [EMPTY]})
    with pytest.raises(ToolError) as raised:
        measure(URL, network, budget=Budget(Rate(1, 0.5), None))

    assert (raised.value.code, network.dialled) == ("rate_limited", [])


def test_the_deadline_leaves_what_was_seen_and_names_the_phase(measure: Measure, script: Script) -> None:
    network = script({HERE: [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "silence"]})

    outcome = measure(URL, network, deadline_s=0.1)

    assert (outcome.ok, outcome.data["http_status"], outcome.data["body"]) == (True, 200, "abc")
    assert (outcome.error["code"], outcome.error["phase"]) == ("timeout", "body")
    assert outcome.error["at_ms"] >= 90
    assert network.channels[0].closed == "close"


def test_a_deadline_that_has_passed_already_is_a_timeout(measure: Measure, script: Script) -> None:
    outcome = measure(URL, script({HERE: ["silence"]}), deadline_s=-1)

    assert (outcome.ok, outcome.error["code"], outcome.data["http_status"]) == (False, "timeout", None)


def test_a_cancelled_measurement_is_an_outcome_and_the_task_goes_on(measure: Measure, script: Script) -> None:
    network = script({HERE: [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "silence"]})
    tasks: list[asyncio.Task[Any] | None] = []

    def cancel(message: str) -> None:
        tasks.append(asyncio.current_task())
        assert tasks[0] is not None
        tasks[0].cancel()

    outcome = measure(URL, network, progress=cancel)

    assert (outcome.ok, outcome.data["http_status"], outcome.data["body"]) == (True, 200, "abc")
    assert (outcome.error["code"], outcome.error["phase"]) == ("cancelled", "cancel")
    assert network.channels[0].closed == "close"
    assert [task.cancelling() for task in tasks if task] == [0]


def test_a_peer_that_is_faster_than_we_are_does_not_outrun_the_deadline(
    measure: Measure, script: Script
) -> None:
    network = script({HERE: [b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 100_000]})

    outcome = measure(URL, network, deadline_s=0.05)

    assert (outcome.error["code"], outcome.data["body_bytes"]["encoded"] < 100_000) == ("timeout", True)


def test_progress_tells_of_the_connection_and_of_the_answer(measure: Measure, script: Script) -> None:
    messages: list[str] = []

    measure(URL, script({HERE: [EMPTY]}), progress=messages.append)

    assert messages == ["connected for hop 1", "answered with status 204"]


def test_importing_the_kind_loads_nothing_that_a_start_does_not_need() -> None:
    code = (
        "import app.measure.http, sys; print({'h11', 'yarl', 'idna', 'dns', 'cryptography'} & {*sys.modules})"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed == "set()\n"
