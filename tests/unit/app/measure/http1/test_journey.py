"""Redirects: each is judged anew, and whatever ends the journey leaves the hops before it."""

from __future__ import annotations

from typing import Any

import pytest

from app.measure.http1.facts import HttpFacts
from app.measure.kind import Limits
from policy import Budget, Policy, Rate

Measure = Any
Script = Any
URL = "http://10.0.0.1/start"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def to(location: str, status: int = 302) -> list[bytes]:
    return [f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 3\r\n\r\nsee".encode()]


def hop(number: int, port: int = 80) -> tuple[str, int]:
    return (f"10.0.0.{number}", port)


def test_a_redirect_is_reported_and_by_default_not_followed(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("../next?x#y")})

    outcome = measure(URL, network)

    assert outcome.data["redirect"] == {
        "status": 302,
        "location": "../next?x#y",
        "resolved": "http://10.0.0.1/next?x",
        "followed": False,
        "refused_by": None,
        "dropped_credentials": [],
    }
    assert (outcome.ok, outcome.data["body"], outcome.data["hops"], len(network.dialled)) == (
        True,
        "see",
        [],
        1,
    )


def test_a_followed_redirect_leaves_every_hop_as_a_measurement(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/b"), hop(2): [OK]})

    data = measure(URL, network, follow_redirects=True).data

    first, last = data["hops"]
    assert (first["http_status"], first["body"], first["redirect"]["followed"]) == (302, "see", True)
    assert (last["http_status"], last["target"]["input"], "body" in last) == (200, "http://10.0.0.2/b", False)
    assert (data["http_status"], data["body"], data["target"]["host"]) == (200, "hi", "10.0.0.2")
    assert (
        {*data} - {"kind", "hops", "samples", "by_address"}
        == {*first} - {"error"}
        == {*last, "body"} - {"error"}
    )


def test_the_total_at_the_top_is_the_sum_of_the_hops(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/b"), hop(2): [OK]})

    data = measure(URL, network, follow_redirects=True).data

    totals = [each["timings"]["total_ms"] for each in data["hops"]]
    assert data["timings"]["total_ms"] == round(sum(totals), 3)
    assert data["timings"]["first_byte_ms"] == data["hops"][1]["timings"]["first_byte_ms"]


def test_secrets_stay_with_their_origin_and_do_not_come_back(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/"), hop(2): to("http://10.0.0.1:81/"), hop(1, 81): [OK]})

    data = measure(URL, network, follow_redirects=True, headers={"X-Api-Key": "CANARY", "Accept": "a/b"}).data

    assert [b"CANARY" in request for request in network.received] == [True, False, False]
    assert [b"Accept: a/b" in request for request in network.received] == [True, True, True]
    assert [each["redirect"]["dropped_credentials"] for each in data["hops"][:2]] == [["X-Api-Key"], []]
    assert "CANARY" not in str(data)


def test_a_refused_hop_leaves_the_answer_before_it(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://169.254.169.254/latest/")})

    outcome = measure(URL, network, follow_redirects=True, headers={"Cookie": "a"})

    assert (outcome.ok, outcome.error, outcome.data["http_status"]) == (True, None, 302)
    assert outcome.data["redirect"]["refused_by"] == {
        "url": "http://169.254.169.254/latest/",
        "address": "169.254.169.254",
        "class": "metadata",
        "rule": "never",
    }
    assert (outcome.data["redirect"]["followed"], outcome.data["redirect"]["dropped_credentials"]) == (
        False,
        [],
    )
    assert (outcome.data["hops"], network.dialled) == ([], [hop(1)])


def test_a_refused_third_hop_leaves_two(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/"), hop(2): to("http://8.8.8.8/")})

    data = measure(URL, network, follow_redirects=True).data

    assert [each["redirect"]["followed"] for each in data["hops"]] == [True, False]
    assert (
        data["hops"][1]["redirect"]["refused_by"]["rule"]
        == data["redirect"]["refused_by"]["rule"]
        == "outside_profile"
    )


@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("ftp://10.0.0.2/", "bad_scheme"),
        ("http://u:p@10.0.0.2/", "userinfo_not_allowed"),
        ("http://10.0.0.2 /", "bad_input"),
        ("http://10.0.0.2:0/", "bad_port"),
        ("javascript:alert(1)", "bad_input"),
    ],
)
@pytest.mark.parametrize("follow", [True, False])
def test_a_location_that_is_no_target_is_refused(
    measure: Measure, script: Script, location: str, rule: str, follow: object
) -> None:
    redirect = measure(URL, script({hop(1): to(location)}), follow_redirects=follow).data["redirect"]

    assert (redirect["location"], redirect["resolved"], redirect["followed"]) == (location, None, False)
    assert redirect["refused_by"] == {"url": location, "address": None, "class": None, "rule": rule}


def test_the_operators_limit_ends_a_loop(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("/again")})

    outcome = measure(URL, network, follow_redirects=True, limits=Limits(max_redirects=3))

    assert (outcome.ok, outcome.error, len(outcome.data["hops"]), len(network.dialled)) == (True, None, 4, 4)
    assert outcome.data["redirect"]["refused_by"] == {
        "url": "http://10.0.0.1/again",
        "address": None,
        "class": None,
        "rule": "max_redirects",
    }


def test_a_call_may_follow_less_than_the_operator_allows(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("/again")})

    measure(URL, network, follow_redirects=True, max_redirects=0)

    assert len(network.dialled) == 1


def test_a_body_is_not_carried_to_another_origin(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/", 307)})

    data = measure(URL, network, follow_redirects=True, body="CANARY").data

    assert (data["redirect"]["refused_by"]["rule"], len(network.dialled)) == ("body_to_another_origin", 1)


def test_a_later_hop_that_does_not_connect_is_the_last_fact(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/"), hop(2): ["refused"]})

    outcome = measure(URL, network, follow_redirects=True)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "refused", "connect")
    assert (outcome.data["http_status"], outcome.data["target"]["host"]) == (None, "10.0.0.2")
    assert [each["http_status"] for each in outcome.data["hops"]] == [302, None]
    assert [each["error"] for each in outcome.data["hops"]] == [None, outcome.error]


def test_a_later_hop_without_a_token_leaves_the_answer_before_it(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/"), hop(2): [OK]})

    outcome = measure(URL, network, follow_redirects=True, budget=Budget(None, Rate(1, 1)))

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "rate_limited", "limit")
    assert (outcome.data["http_status"], outcome.data["redirect"]["followed"], outcome.data["hops"]) == (
        302,
        False,
        [],
    )
    assert network.dialled == [hop(1)]


def test_a_later_attempt_without_a_token_is_a_fact_of_its_own_hop(measure: Measure, script: Script) -> None:
    network = script(
        {hop(1): to("http://svc.test/"), hop(2): ["refused"]}, {"svc.test": [["10.0.0.2", "10.0.0.3"]]}
    )

    outcome = measure(URL, network, follow_redirects=True, budget=Budget(None, Rate(1, 4)))

    assert (outcome.ok, outcome.error["code"]) == (True, "rate_limited")
    assert [attempt["ip"] for attempt in outcome.data["attempts"]] == ["10.0.0.2"]


def test_a_name_that_the_profile_does_not_look_up_is_a_refused_hop(measure: Measure, script: Script) -> None:
    network = script({("127.0.0.1", 80): to("http://svc.test/")})

    outcome = measure("http://127.0.0.1/", network, policy=Policy.parse("loopback"), follow_redirects=True)

    assert (outcome.ok, outcome.data["redirect"]["refused_by"]["rule"], network.asked) == (
        True,
        "no_lookup",
        [],
    )


def test_a_redirect_whose_body_is_cut_short_is_still_followed(measure: Measure, script: Script) -> None:
    cut = [b"HTTP/1.1 302 X\r\nLocation: http://10.0.0.2/\r\nContent-Length: 9\r\n\r\nabc"]

    outcome = measure(URL, script({hop(1): cut, hop(2): [OK]}), follow_redirects=True)

    assert (outcome.ok, outcome.error, outcome.data["http_status"]) == (True, None, 200)
    assert outcome.data["hops"][0]["error"]["code"] == "truncated"


def test_the_deadline_covers_all_hops_and_keeps_the_finished_ones(measure: Measure, script: Script) -> None:
    network = script({hop(1): to("http://10.0.0.2/"), hop(2): ["silence"]})

    outcome = measure(URL, network, follow_redirects=True, deadline_s=0.1)

    assert (outcome.ok, outcome.error["code"], outcome.error["phase"]) == (True, "timeout", "first_byte")
    assert [each["http_status"] for each in outcome.data["hops"]] == [302, None]


def test_hops_fit_the_published_schema(measure: Measure, script: Script) -> None:
    import msgspec

    network = script({hop(1): to("http://10.0.0.2/"), hop(2): to("http://8.8.8.8/")})

    facts = msgspec.convert(measure(URL, network, follow_redirects=True).data, HttpFacts)

    assert facts.redirect.refused_by.class_ == "public"  # type: ignore[union-attr]
