"""A02: numbers, octal, hexadecimal and short forms are never read as addresses nor as names."""

from __future__ import annotations

import pytest

from policy import Policy, TargetError, parse_url

LEGACY = ["127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "0", "010.0.0.1"]


@pytest.mark.parametrize("host", LEGACY)
def test_a02_a_legacy_spelling_is_refused_as_ambiguous(host: str) -> None:
    with pytest.raises(TargetError) as refusal:
        parse_url(f"http://{host}:8080/")

    assert refusal.value.reason_code == "ambiguous_host"
    assert "not canonical" in refusal.value.message


@pytest.mark.parametrize("host", LEGACY)
def test_a02_an_allowlist_takes_no_legacy_spelling(host: str) -> None:
    with pytest.raises(ValueError, match="not canonical"):
        Policy.parse("allowlist", f"{host}:8080")


def test_a02_the_canonical_spelling_is_read() -> None:
    assert Policy.parse("private").decide_target(parse_url("http://127.0.0.1:8080/")).allowed
