"""What the measurements of one call share on their way."""

from __future__ import annotations

from ipaddress import ip_address

from app.net.visit import Route, Visit

ROUTE = Route(
    (ip_address("::1"), ip_address("127.0.0.1"), ip_address("127.0.0.2")), "profile_loopback", [], {}
)


def test_all_addresses_are_tried_in_their_order() -> None:
    assert Visit().turn(ROUTE) == ROUTE.addresses


def test_each_address_has_its_turn() -> None:
    visit = Visit(each_address=True)
    turns = []
    for place in range(4):
        visit.place = place
        turns.append([str(address) for address in visit.turn(ROUTE)])

    assert turns == [["::1"], ["127.0.0.1"], ["127.0.0.2"], []]


def test_a_source_reaches_addresses_of_its_family() -> None:
    visit = Visit(source=ip_address("127.0.0.9"), each_address=True)

    assert [str(address) for address in visit.turn(ROUTE)] == ["127.0.0.1"]
