"""A01: an IPv4-mapped IPv6 address is judged and dialled as the IPv4 that it holds (OneUptime/oneuptime#2578)."""

from __future__ import annotations

from typing import Any

import pytest

LOOPBACK = ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::FFFF:7F00:0001]"]
PRIVATE = ["[::ffff:10.1.2.3]", "[::ffff:a01:203]"]
METADATA = ["[::ffff:a9fe:a9fe]", "[::ffff:169.254.169.254]"]
LISTENERS = ["127.0.0.1", "10.1.2.3", "169.254.169.254"]


@pytest.fixture(scope="module")
def answers(in_a_namespace: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Every host under every profile, in one namespace."""
    calls = [
        {
            "profile": profile,
            "allow": "[::1]:1" if profile == "allowlist" else "",
            "url": f"http://{host}:{{port}}/",
        }
        for profile in ("deny-all", "loopback", "private", "allowlist")
        for host in [*LOOPBACK, *PRIVATE, *METADATA]
    ]
    told = in_a_namespace({"addresses": LISTENERS, "calls": calls})
    hosts = (call["url"].removeprefix("http://").removesuffix(":{port}/") for call in calls)
    return {(call["profile"], host): answer for call, host, answer in zip(calls, hosts, told, strict=True)}


@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("profile", ["loopback", "private"])
def test_a01_a_mapped_loopback_address_reaches_loopback_by_ipv4(
    answers: Any, profile: str, host: str
) -> None:
    answer = answers[profile, host]

    assert (answer["outcome"], answer["tally"]) == ("connected", ["127.0.0.1"])
    assert (answer["peer"]["address"], answer["peer"]["family"]) == ("127.0.0.1", "ipv4")


@pytest.mark.parametrize("host", PRIVATE)
def test_a01_a_mapped_private_address_passes_under_private(answers: Any, host: str) -> None:
    answer = answers["private", host]

    assert (answer["outcome"], answer["tally"], answer["peer"]["address"]) == (
        "connected",
        ["10.1.2.3"],
        "10.1.2.3",
    )


@pytest.mark.parametrize(
    ("profile", "host"),
    [
        *((profile, host) for profile in ("deny-all", "allowlist") for host in LOOPBACK),
        *((profile, host) for profile in ("deny-all", "loopback", "allowlist") for host in PRIVATE),
        *(
            (profile, host)
            for profile in ("deny-all", "loopback", "private", "allowlist")
            for host in METADATA
        ),
    ],
)
def test_a01_a_denial_meets_no_listener_and_names_both_spellings(
    answers: Any, profile: str, host: str
) -> None:
    answer = answers[profile, host]
    given, _, effective = answer["details"]["address"].partition(" ")

    assert (answer["outcome"], answer["tally"]) == ("policy_denied", [])
    assert given.startswith("::ffff:")
    assert effective.strip("()") in LISTENERS


@pytest.mark.parametrize("host", METADATA)
def test_a01_the_class_is_that_of_the_embedded_address(answers: Any, host: str) -> None:
    assert answers["private", host]["details"]["class"] == "metadata"


def test_a01_a_listed_mapped_literal_is_the_ipv4_entry(in_a_namespace: Any) -> None:
    call = {"profile": "allowlist", "allow": "127.0.0.1:{port}", "url": "http://[::ffff:7f00:1]:{port}/"}

    answer = in_a_namespace({"addresses": ["127.0.0.1"], "calls": [call]})[0]

    assert (answer["outcome"], answer["tally"]) == ("connected", ["127.0.0.1"])
