"""Where a name is looked up: localhost, the hosts file, the nameservers, in this order and no further."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app.errors import ProbeFailed
from app.net.network import Answer
from app.net.resolver import Resolver


def free() -> None:
    """Spends nothing."""


def resolver(folder: Path, hosts: str = "", resolv_conf: str = "") -> Resolver:
    (folder / "hosts").write_text(hosts)
    (folder / "resolv.conf").write_text(resolv_conf)
    return Resolver(hosts_path=str(folder / "hosts"), resolv_conf_path=str(folder / "resolv.conf"))


@pytest.mark.parametrize("name", ["localhost", "a.b.localhost"])
def test_localhost_is_loopback_whatever_the_hosts_file_says(tmp_path: Path, name: str) -> None:
    asked = resolver(tmp_path, hosts=f"10.0.0.1 {name}\n")

    assert asyncio.run(asked.lookup(name, "local", free)) == Answer(
        "hosts", None, (), (("127.0.0.1", None), ("::1", None))
    )


def test_a_name_of_the_hosts_file_is_answered_without_a_ttl(tmp_path: Path) -> None:
    asked = resolver(tmp_path, hosts="10.0.0.1 svc.test\n")

    assert asyncio.run(asked.lookup("svc.test", "local", free)) == Answer(
        "hosts", None, (), (("10.0.0.1", None),)
    )


def test_a_name_that_is_not_known_here_is_not_asked_for_elsewhere(tmp_path: Path) -> None:
    asked = resolver(tmp_path, resolv_conf="nameserver 192.0.2.53\n")

    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(asked.lookup("svc.test", "local", free))

    assert (caught.value.phase, caught.value.code) == ("resolve", "name_not_found")


def test_without_a_nameserver_the_resolver_fails(tmp_path: Path) -> None:
    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(resolver(tmp_path).lookup("svc.test", "dns", free))

    assert (caught.value.code, caught.value.message) == ("resolver_failed", "no nameserver is configured")


def test_a_resolv_conf_that_cannot_be_read_is_a_failed_resolver(tmp_path: Path) -> None:
    asked = Resolver(hosts_path="/nonexistent", resolv_conf_path=str(tmp_path))

    with pytest.raises(ProbeFailed) as caught:
        asyncio.run(asked.lookup("svc.test", "dns", free))

    assert (caught.value.code, caught.value.message) == (
        "resolver_failed",
        "resolv.conf cannot be read: Is a directory",
    )


def test_preparing_imports_the_dns_library(tmp_path: Path) -> None:
    resolver(tmp_path).prepare()

    assert "dns.message" in sys.modules
