"""What a name says by itself, before anything is looked up: localhost and the names of metadata services."""

from __future__ import annotations

from typing import Final

# A message aid only: the class of the address is the lock.
_METADATA_NAMES: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.oraclecloud.com",
        "metadata.platformequinix.com",
        "metadata.azure.internal",
    }
)


def is_local_name(host: str) -> bool:
    """True for `localhost` and what is below it: answered with loopback and never looked up (RFC 6761, 6.3)."""
    return host == "localhost" or host.endswith(".localhost")


def is_metadata_name(host: str) -> bool:
    """True for the names under which clouds serve credentials to their machines."""
    return host in _METADATA_NAMES


def is_literal(host: str) -> bool:
    """True when a parsed host is an address: no name has a colon or ends in a number (see `policy.host`)."""
    return ":" in host or host.rpartition(".")[2].isdigit()
