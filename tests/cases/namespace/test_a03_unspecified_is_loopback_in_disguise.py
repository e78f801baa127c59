"""A03: 0.0.0.0 and :: reach this machine and are refused in every profile (ihor-sokoliuk/mcp-searxng#82)."""

from __future__ import annotations

from typing import Any

import pytest

HOSTS = ["0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "0.1.2.3"]
PROFILES = [
    ("deny-all", ""),
    ("loopback", ""),
    ("private", ""),
    ("allowlist", "0.0.0.0:{port},svc.test:{port}"),
]


@pytest.fixture(scope="module")
def answers(in_a_namespace: Any) -> list[dict[str, Any]]:
    """Every host, and a name with that address, under every profile."""
    calls = [
        {
            "profile": profile,
            "allow": allow,
            "url": f"http://{host}:{{port}}/",
            "hosts": {"svc.test": ["0.0.0.0"]},
        }
        for profile, allow in PROFILES
        for host in [*HOSTS, "svc.test"]
    ]
    told: list[dict[str, Any]] = in_a_namespace({"addresses": ["127.0.0.1", "::1"], "calls": calls})
    return told


def test_a03_no_profile_reaches_the_unspecified_address_nor_a_listener(answers: list[dict[str, Any]]) -> None:
    assert [answer["outcome"] for answer in answers] == ["policy_denied"] * len(answers)
    assert [answer["tally"] for answer in answers] == [[]] * len(answers)


def test_a03_the_denial_names_the_class(answers: list[dict[str, Any]]) -> None:
    loopback = [answer["details"]["class"] for answer in answers[5:10]]

    assert loopback == ["unspecified", "unspecified", "unspecified", "this-network", "unspecified"]


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_a03_even_without_a_policy_the_peer_must_be_the_address_that_was_dialled(
    in_a_namespace: Any, address: str
) -> None:
    answer = in_a_namespace({"addresses": ["127.0.0.1", "::1"], "calls": [{"unguarded": address}]})[0]

    assert answer["outcome"] == "protocol_error"


def test_a03_a_socket_that_connects_to_itself_is_told_and_closed(in_a_namespace: Any) -> None:
    # The kernel can only choose the port that is dialled, so a closed port looks open.
    call = {"unguarded": "127.0.0.1", "port": 50001}

    answer = in_a_namespace({"addresses": ["127.0.0.1"], "port_range": "50001 50001", "calls": [call]})[0]

    assert answer["outcome"] == "self_connect"
