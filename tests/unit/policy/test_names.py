"""What a name says by itself."""

from __future__ import annotations

import pytest

from policy.names import is_literal, is_local_name, is_metadata_name


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("localhost.test", False),
        ("notlocalhost", False),
        ("127.0.0.1", False),
    ],
)
def test_localhost_and_what_is_below_it_are_local(host: str, *, local: bool) -> None:
    assert is_local_name(host) == local


@pytest.mark.parametrize(
    "host",
    [
        "metadata.google.internal",
        "metadata",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.oraclecloud.com",
        "metadata.platformequinix.com",
        "metadata.azure.internal",
    ],
)
def test_the_names_of_metadata_services_are_known(host: str) -> None:
    assert is_metadata_name(host)
    assert not is_metadata_name(f"x{host}")


@pytest.mark.parametrize(
    ("host", "literal"),
    [("127.0.0.1", True), ("::1", True), ("a.test", False), ("1and1", False), ("a1", False)],
)
def test_an_address_is_told_from_a_name(host: str, *, literal: bool) -> None:
    assert is_literal(host) == literal
