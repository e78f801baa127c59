"""Names that need no packet."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.net.hosts import HostsFile, is_localhost, parse_hosts


def test_a_hosts_file_maps_every_name_to_its_addresses_in_order() -> None:
    text = "127.0.0.1 localhost\n10.1.2.3\tNas.Home.Arpa. nas # comment alias\n\n#1.1.1.1 no\nfd00::5 nas\n"

    assert parse_hosts(text) == {
        "localhost": ("127.0.0.1",),
        "nas.home.arpa": ("10.1.2.3",),
        "nas": ("10.1.2.3", "fd00::5"),
    }


def test_a_repeated_address_is_kept_once() -> None:
    assert parse_hosts("10.0.0.1 a\n10.0.0.1 a\n") == {"a": ("10.0.0.1",)}


def test_what_is_no_address_is_kept_for_the_policy_to_refuse() -> None:
    assert parse_hosts("fe80::1%eth0 a\nnonsense b\n") == {"a": ("fe80::1%eth0",), "b": ("nonsense",)}


def test_a_changed_file_counts_from_the_next_question_on(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("10.0.0.1 svc.test\n")
    hosts = HostsFile(str(path))
    before = hosts.addresses("svc.test")
    path.write_text("10.0.0.1 svc.test\n10.0.0.2 svc.test\n")

    assert (before, hosts.addresses("svc.test")) == (("10.0.0.1",), ("10.0.0.1", "10.0.0.2"))


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("10.0.0.1 svc.test\n")
    hosts = HostsFile(str(path))
    hosts.addresses("svc.test")
    first = hosts._names
    hosts.addresses("svc.test")

    assert hosts._names is first


def test_a_file_that_is_gone_knows_no_names(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("10.0.0.1 svc.test\n")
    hosts = HostsFile(str(path))
    hosts.addresses("svc.test")
    path.unlink()

    assert hosts.addresses("svc.test") == ()


@pytest.mark.parametrize("name", ["localhost", "a.localhost", "a.b.localhost"])
def test_localhost_is_the_name_and_everything_below_it(name: str) -> None:
    assert is_localhost(name)


@pytest.mark.parametrize("name", ["notlocalhost", "localhost.test", "local", ""])
def test_other_names_are_not_localhost(name: str) -> None:
    assert not is_localhost(name)
