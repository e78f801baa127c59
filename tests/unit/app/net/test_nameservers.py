"""resolv.conf and the setting: whom to ask, and for how long."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from pathlib import Path

import pytest

from app.net.nameservers import Nameserver, Nameservers, configured, parse_resolv_conf

ONE = Nameserver(ip_address("10.0.0.53"))


def test_nameservers_and_times_are_read() -> None:
    text = "search corp.test\nnameserver 10.0.0.53\noptions timeout:3 attempts:4 rotate\n"

    assert parse_resolv_conf(text) == Nameservers((ONE,), 3.0, 4)


def test_at_most_three_servers_count() -> None:
    text = "".join(f"nameserver 10.0.0.{number}\n" for number in range(5))

    assert [str(server) for server in parse_resolv_conf(text).servers] == ["10.0.0.0", "10.0.0.1", "10.0.0.2"]


@pytest.mark.parametrize(
    "line",
    [
        "nameserver", "nameserver nonsense", "options", "options timeout:", "options timeout:x attempts:-1",
        "options timeout:999999999999", "# nameserver 1.1.1.1", "; nameserver 1.1.1.1", "", "options attempts:٣",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_passed_over(line: str) -> None:
    assert parse_resolv_conf(line) == Nameservers(())


@pytest.mark.parametrize(
    ("options", "expected"),
    [("timeout:0 attempts:0", (1.0, 1)), ("timeout:99 attempts:99", (30.0, 5))],
)
def test_times_stay_within_bounds(options: str, expected: tuple[float, int]) -> None:
    parsed = parse_resolv_conf(f"options {options}")

    assert (parsed.try_seconds, parsed.attempts) == expected


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RES_OPTIONS", "timeout:9 attempts:1")
    monkeypatch.setenv("LOCALDOMAIN", "evil.test")

    assert parse_resolv_conf("nameserver 10.0.0.53\n") == Nameservers((ONE,))


def test_the_setting_replaces_resolv_conf(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("nameserver 10.9.9.9\n")

    assert configured(["10.0.0.53"], str(path)) == Nameservers((ONE,))


def test_resolv_conf_is_read_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    before = configured([], str(path))
    path.write_text("nameserver 10.0.0.53\n")

    assert (before, configured([], str(path))) == (Nameservers(()), Nameservers((ONE,)))


@pytest.mark.parametrize(
    ("server", "text", "sockaddr"),
    [
        (ONE, "10.0.0.53", ("10.0.0.53", 53)),
        (Nameserver(ip_address("127.0.0.1"), 5353), "127.0.0.1:5353", ("127.0.0.1", 5353)),
        (Nameserver(ip_address("::1")), "::1", ("::1", 53)),
        (Nameserver(ip_address("::1"), 5353), "[::1]:5353", ("::1", 5353)),
        (Nameserver(ip_address("fe80::1%7")), "fe80::1%7", ("fe80::1", 53, 0, 7)),
    ],
)
def test_a_server_is_named_and_reached(server: Nameserver, text: str, sockaddr: tuple[object, ...]) -> None:
    assert (str(server), server.sockaddr) == (text, sockaddr)


def test_the_zone_of_a_resolver_may_be_an_interface() -> None:
    server = Nameserver(ip_address("fe80::1%lo"))

    assert server.sockaddr == ("fe80::1", 53, 0, socket.if_nametoindex("lo"))
