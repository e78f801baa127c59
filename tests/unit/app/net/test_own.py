"""What is ours among addresses."""

from __future__ import annotations

from ipaddress import ip_address

from app.net.network import Address
from app.net.own import OwnAddresses, OwnListeners

HERE = ip_address("10.1.2.3")


def own(asked: list[Address] | None = None) -> OwnAddresses:
    def is_own_address(address: Address) -> bool:
        if asked is not None:
            asked.append(address)
        return address == HERE

    return OwnAddresses(is_own_address)


def test_an_address_of_an_interface_is_ours_and_asked_for_once() -> None:
    asked: list[Address] = []
    mine = own(asked)

    assert (HERE in mine, HERE in mine, ip_address("10.9.9.9") in mine) == (True, True, False)
    assert asked == [HERE, ip_address("10.9.9.9")]


def test_loopback_is_a_class_of_its_own_and_not_asked_for() -> None:
    asked: list[Address] = []

    assert ip_address("127.0.0.1") not in own(asked)
    assert ip_address("::1") not in own(asked)
    assert asked == []


def test_what_is_no_address_is_not_ours() -> None:
    assert (None in own(), "10.1.2.3" in own(), None in OwnListeners((), own())) == (False, False, False)


def test_a_listener_is_its_address_and_its_port() -> None:
    listeners = OwnListeners({(HERE, 8765)}, own())

    assert [(HERE, 8765) in listeners, (HERE, 80) in listeners] == [True, False]
    assert (ip_address("127.0.0.1"), 8765) not in listeners


def test_a_listener_on_every_address_is_met_at_each_of_ours() -> None:
    listeners = OwnListeners({(ip_address("0.0.0.0"), 8765)}, own())
    asked = ["127.0.0.1", "127.9.9.9", "::1", "10.1.2.3", "10.9.9.9"]

    assert [(ip_address(text), 8765) in listeners for text in asked] == [True, True, True, True, False]
    assert (HERE, 80) not in listeners
