"""A09: one forbidden address in an answer refuses the whole answer, in every order (mercury-agent#124)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

LISTENERS = ["127.0.0.1", "10.1.2.3", "93.184.216.34", "169.254.169.254", "fd00::5", "::1"]
MIXED = ["127.0.0.1", "10.1.2.3", "93.184.216.34"]
MANY = [*(f"10.0.0.{number}" for number in range(1, 40)), "169.254.169.254"]


def call(
    addresses: list[str], profile: str = "private", allow: str = "", scheme: str = "http"
) -> dict[str, Any]:
    return {
        "profile": profile,
        "allow": allow,
        "url": f"{scheme}://mix.test:{{port}}/",
        "hosts": {"mix.test": addresses},
    }


REFUSED = [
    *(call(list(order)) for order in permutations(MIXED)),
    *(call(list(order), "loopback") for order in permutations(MIXED)),
    call(["127.0.0.1", "169.254.169.254"], "allowlist", "mix.test:{port}"),
    call(["169.254.169.254", "127.0.0.1"], "allowlist", "mix.test:{port}@loopback"),
    call(MANY),
    *(call(list(order), scheme="ws") for order in permutations(MIXED)),
    call(MANY, scheme="ws"),
    call(["10.1.2.3", "fe80::1"]),
    call(["fd00::5", "93.184.216.34"]),
    call(["10.1.2.3", "fe80::1%lo"]),
]
ADMITTED = [
    (call(["127.0.0.1", "::1"], "loopback"), "::1"),
    (call(["fd00::5", "10.1.2.3"]), "10.1.2.3"),
    (call(["fd00::5", "10.1.2.3"], scheme="ws"), "10.1.2.3"),
    (call(["127.0.0.1"], "allowlist", "mix.test:{port}@loopback"), "127.0.0.1"),
    (call(["10.1.2.3"], "allowlist", "mix.test:{port}@loopback"), "10.1.2.3"),
]


@pytest.fixture(scope="module")
def answers(in_a_namespace: Any) -> list[dict[str, Any]]:
    """All calls, in one namespace."""
    calls = [*REFUSED, *(asked for asked, _ in ADMITTED)]
    told: list[dict[str, Any]] = in_a_namespace({"addresses": LISTENERS, "calls": calls})
    return told


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_a09_a_mixed_answer_is_refused_with_every_address_and_no_listener_met(
    answers: Any, index: int
) -> None:
    answer, addresses = answers[index], REFUSED[index]["hosts"]["mix.test"]

    assert (answer["outcome"], answer["tally"]) == ("policy_denied", [])
    assert [one["ip"].strip("'") for one in answer["details"]["addresses"]] == addresses


def test_a09_the_verdict_does_not_depend_on_the_order(answers: Any) -> None:
    verdicts = [
        {name: answer["details"][name] for name in ("address", "class", "rule", "reason")}
        for answer in answers[:6]
    ]

    assert verdicts == [verdicts[0]] * 6
    assert (verdicts[0]["address"], verdicts[0]["class"]) == ("93.184.216.34", "public")


@pytest.mark.parametrize("index", range(len(ADMITTED)))
def test_a09_an_answer_without_a_forbidden_address_is_dialled_at_the_first_alone(
    answers: Any, index: int
) -> None:
    answer, first = answers[len(REFUSED) + index], ADMITTED[index][1]

    assert (answer["outcome"], answer["tally"]) == ("connected", [first])
