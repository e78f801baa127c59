"""Samples and addresses: raw timings of each, one lookup, one reservation, and facts of the first."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import PolicyRefused, ToolError
from policy import Budget, Policy, Rate

Measure = Any
Script = Any
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
HERE = ("10.0.0.1", 80)
NAMES = {"svc.test": [["10.0.0.1", "10.0.0.2"]]}


def test_samples_are_requests_of_their_own_after_one_lookup(measure: Measure, script: Script) -> None:
    network = script({HERE: [OK]}, {"svc.test": [["10.0.0.1"], ["10.0.0.9"]]})

    data = measure("http://svc.test/", network, samples=3).data

    assert (network.asked, network.dialled) == (["svc.test"], [HERE] * 3)
    assert [(each["ok"], each["http_status"], each["error"]) for each in data["samples"]] == [
        (True, 200, None)
    ] * 3
    assert [each["timings"]["resolve_ms"] is None for each in data["samples"]] == [False, True, True]
    assert (data["samples"][0]["at_ms"], data["by_address"], data["body"]) == (0.0, [], "hi")


def test_one_sample_is_no_list(measure: Measure, script: Script) -> None:
    assert measure("http://10.0.0.1/", script({HERE: [OK]})).data["samples"] == []


def test_the_interval_lies_between_the_starts(measure: Measure, script: Script) -> None:
    samples = measure("http://10.0.0.1/", script({HERE: [OK]}), samples=3, interval_ms=30).data["samples"]

    assert [each["at_ms"] >= 29 * index for index, each in enumerate(samples)] == [True] * 3


def test_a_budget_that_does_not_hold_all_samples_refuses_the_call(measure: Measure, script: Script) -> None:
    network = script({HERE: [OK]})
    with pytest.raises(ToolError) as caught:
        measure("http://10.0.0.1/", network, samples=3, budget=Budget(Rate(1, 2), None))

    assert (caught.value.code, network.dialled) == ("rate_limited", [])


def test_samples_that_fail_are_entries(measure: Measure, script: Script) -> None:
    outcome = measure("http://10.0.0.1/", script({}), samples=2)

    assert (outcome.ok, outcome.error["code"]) == (False, "refused")
    assert [each["error"]["code"] for each in outcome.data["samples"]] == ["refused"] * 2


def test_the_deadline_ends_the_samples_and_says_so(measure: Measure, script: Script) -> None:
    network = script({HERE: [OK]})

    outcome = measure("http://10.0.0.1/", network, samples=3, interval_ms=10_000, deadline_s=0.2)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "timeout", "limit")
    assert len(outcome.data["samples"]) == 1


def test_a_sample_that_ran_at_the_deadline_has_its_phase(measure: Measure, script: Script) -> None:
    outcome = measure("http://10.0.0.1/", script({HERE: ["silence"]}), samples=3, deadline_s=0.1)

    (only,) = outcome.data["samples"]
    assert (only["error"]["code"], only["error"]["phase"]) == ("timeout", "first_byte")
    assert outcome.error == only["error"]


def test_each_address_is_measured_by_itself(measure: Measure, script: Script) -> None:
    network = script({("10.0.0.2", 80): [OK]}, NAMES)

    outcome = measure("http://svc.test/", network, addresses="all")

    first, second = outcome.data["by_address"]
    assert (first["ip"], first["ok"], first["error"]["code"]) == ("10.0.0.1", False, "refused")
    assert (second["ip"], second["ok"], second["http_status"]) == ("10.0.0.2", True, 200)
    assert (outcome.ok, outcome.error["code"], network.asked) == (False, "refused", ["svc.test"])
    assert len(outcome.data["attempts"]) == 1


def test_first_goes_on_to_the_next_address_and_all_does_not(measure: Measure, script: Script) -> None:
    network = script({("10.0.0.2", 80): [OK]}, NAMES)

    assert measure("http://svc.test/", network).data["peer"]["address"] == "10.0.0.2"


def test_samples_of_each_address_stand_with_their_address(measure: Measure, script: Script) -> None:
    network = script({HERE: [OK], ("10.0.0.2", 80): [OK]}, NAMES)

    data = measure("http://svc.test/", network, addresses="all", samples=2).data

    assert [(each["ip"], len(each["samples"])) for each in data["by_address"]] == [
        ("10.0.0.1", 2),
        ("10.0.0.2", 2),
    ]
    assert (data["samples"], len(network.dialled)) == ([], 4)


def test_all_addresses_are_reserved_before_the_first_is_dialled(measure: Measure, script: Script) -> None:
    network = script({HERE: [OK]}, NAMES)
    with pytest.raises(ToolError) as caught:
        measure("http://svc.test/", network, addresses="all", samples=2, budget=Budget(None, Rate(1, 5)))

    assert (caught.value.code, network.dialled) == ("rate_limited", [])


def test_a_name_that_is_not_found_has_no_addresses(measure: Measure, script: Script) -> None:
    outcome = measure("http://gone.test/", script({}), addresses="all")

    assert (outcome.error["code"], outcome.data["by_address"]) == ("name_not_found", [])


def test_connect_to_is_judged_dialled_and_budgeted_and_the_url_is_only_asked_for(
    measure: Measure, script: Script
) -> None:
    network = script({("10.0.0.7", 8080): [OK]})

    data = measure("http://far.example/a", network, connect_to="10.0.0.7:8080").data

    assert (network.asked, network.dialled) == ([], [("10.0.0.7", 8080)])
    assert b"Host: far.example\r\n" in network.received[0]
    assert (data["target"]["host"], data["peer"]["address"]) == ("far.example", "10.0.0.7")


def test_connect_to_a_forbidden_place_is_refused_before_any_packet(measure: Measure, script: Script) -> None:
    network = script({})
    with pytest.raises(PolicyRefused) as caught:
        measure("http://10.0.0.1/", network, connect_to="169.254.169.254:80")

    assert (caught.value.details or {})["host"] == "169.254.169.254"
    assert network.dialled == []


def test_a_name_to_connect_to_is_looked_up_and_judged(measure: Measure, script: Script) -> None:
    network = script({}, {"evil.test": [["8.8.8.8"]]})
    with pytest.raises(PolicyRefused):
        measure("http://10.0.0.1/", network, connect_to="evil.test:80")

    assert (network.asked, network.dialled) == (["evil.test"], [])


def test_redirects_ignore_connect_to(measure: Measure, script: Script) -> None:
    moved = b"HTTP/1.1 302 X\r\nLocation: http://10.0.0.2/\r\nContent-Length: 0\r\n\r\n"
    network = script({("10.0.0.7", 8080): [moved], ("10.0.0.2", 80): [OK]})

    data = measure("http://far.example/", network, connect_to="10.0.0.7:8080", follow_redirects=True).data

    assert network.dialled == [("10.0.0.7", 8080), ("10.0.0.2", 80)]
    assert data["http_status"] == 200


def test_connect_to_opens_no_door_in_an_allowlist(measure: Measure, script: Script) -> None:
    network = script({})
    policy = Policy.parse("allowlist", "10.0.0.1:80")
    with pytest.raises(PolicyRefused):
        measure("http://10.0.0.1/", network, connect_to="10.0.0.2:80", policy=policy)

    assert network.dialled == []


def test_a_source_is_where_the_connection_comes_from(measure: Measure, byte_server: Any) -> None:
    server = byte_server([["read", OK, "eof"]])

    assert measure(server.url, source="127.0.0.77").data["local"]["address"] == "127.0.0.77"


def test_a_source_that_is_not_ours_is_an_observation(measure: Measure, byte_server: Any) -> None:
    server = byte_server([["read", OK, "eof"]])

    outcome = measure(server.url, source="192.0.2.1")

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (False, "unreachable", "connect")
    assert server.connections == 0


def test_one_request_a_sample_is_seen_by_the_server(measure: Measure, byte_server: Any) -> None:
    server = byte_server([["read", OK, "eof"], ["read", "reset"], ["read", OK, "eof"]])

    outcome = measure(server.url, samples=3)

    assert [each["ok"] for each in outcome.data["samples"]] == [True, False, True]
    assert (server.connections, len(server.requests)) == (3, 3)
