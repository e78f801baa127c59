"""The order of RFC 6724, as far as it needs no source address."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from app.net.order import in_order, precedence, scope


def ordered(*texts: str) -> list[str]:
    return [str(address) for address in in_order([ip_address(text) for text in texts])]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            ("127.0.0.1", "::1"), ["::1", "127.0.0.1"], id="IPv6 loopback has the highest precedence"
        ),
        pytest.param(("192.0.2.1", "2a00::1"), ["2a00::1", "192.0.2.1"], id="IPv6 comes before IPv4"),
        pytest.param(("fd00::5", "10.0.0.1"), ["10.0.0.1", "fd00::5"], id="IPv4 comes before unique local"),
        pytest.param(("2002::1", "192.0.2.1"), ["192.0.2.1", "2002::1"], id="IPv4 comes before 6to4"),
        pytest.param(("2001::1", "2002::1"), ["2002::1", "2001::1"], id="6to4 comes before Teredo"),
        pytest.param(("2a00::1", "fe80::1"), ["fe80::1", "2a00::1"], id="the smaller scope comes first"),
        pytest.param(
            ("192.0.2.1", "127.0.0.1"), ["127.0.0.1", "192.0.2.1"], id="loopback IPv4 is link-local"
        ),
        pytest.param(
            ("10.0.0.2", "10.0.0.1"), ["10.0.0.2", "10.0.0.1"], id="equals keep the order of the answer"
        ),
    ],
)
def test_the_address_to_try_first_is_at_the_front(given: tuple[str, ...], expected: list[str]) -> None:
    assert ordered(*given) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::1", 50), ("2a00::1", 40), ("192.0.2.1", 35), ("::ffff:1.2.3.4", 35), ("2002::1", 30), ("2001::1", 5),
        ("fd00::1", 3), ("::1.2.3.4", 1), ("fec0::1", 1), ("3ffe::1", 1),
    ],
)  # fmt: skip
def test_precedences_are_those_of_the_default_table(text: str, expected: int) -> None:
    assert precedence(ip_address(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1", 2), ("169.254.0.1", 2), ("10.0.0.1", 14), ("::1", 2), ("fe80::1", 2), ("fec0::1", 5),
        ("fd00::1", 14), ("2a00::1", 14),
    ],
)  # fmt: skip
def test_scopes_are_those_of_the_rfc(text: str, expected: int) -> None:
    assert scope(ip_address(text)) == expected
