"""A06: entries are exact; a malformed one stops the start with a line, and no other port comes along."""

from __future__ import annotations

import pytest

from policy import Policy, PolicyError, parse_url

BAD = [
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:99999",
    ":8053",
    "::1:8080",
    "example.test",
    "http://example.test:80",
]
BAD += ["example.test:0443", "*:80"]
GOOD = ["127.0.0.1:8053", "[::1]:8080", "Example.TEST:443"]


def allowed(url: str) -> bool:
    return Policy.parse("allowlist", ",".join(GOOD)).decide_target(parse_url(url)).allowed


def test_a06_every_malformed_entry_has_a_line_of_its_own() -> None:
    with pytest.raises(PolicyError) as refusal:
        Policy.parse("allowlist", ",".join([*GOOD, *BAD]))

    assert [line.split(": ")[1] for line in refusal.value.lines] == [f"entry {entry!r}" for entry in BAD]


@pytest.mark.parametrize("url", ["http://127.0.0.1:8053/", "http://[::1]:8080/", "https://example.test/"])
def test_a06_what_is_listed_is_admitted(url: str) -> None:
    assert allowed(url)


@pytest.mark.parametrize(
    "url", ["https://EXAMPLE.test./", "https://example.test:443/x", "http://example.test:443/"]
)
def test_a06_names_compare_without_case_and_dot(url: str) -> None:
    assert allowed(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8054/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://example.test/",
        "https://a.example.test/",
        "http://localhost:8053/",
    ],
)
def test_a06_no_other_host_or_port_comes_along(url: str) -> None:
    assert not allowed(url)
