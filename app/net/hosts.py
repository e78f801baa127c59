"""Names that are answered without a packet: localhost (RFC 6761) and the hosts file, read by ourselves."""

from __future__ import annotations

import os
from collections.abc import Mapping

LOCALHOST = ("127.0.0.1", "::1")
MOST_BYTES = 16 * 1024 * 1024
"""A larger hosts file is read up to here."""


class HostsFile:
    """The hosts file at a path, read again only when it has changed."""

    def __init__(self, path: str = "/etc/hosts") -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._names: Mapping[str, tuple[str, ...]] = {}

    def addresses(self, name: str) -> tuple[str, ...]:
        """The texts that stand for the name, in the order of the file; none when it does not know it."""
        self._refresh()
        return self._names.get(name, ())

    def _refresh(self) -> None:
        try:
            with open(self._path, "rb") as file:
                status = os.fstat(file.fileno())
                now = (status.st_ino, status.st_mtime_ns, status.st_size)
                if now != self._seen:
                    self._names = parse_hosts(file.read(MOST_BYTES).decode("utf-8", "replace"))
                    self._seen = now
        except OSError:
            # No hosts file, no names: what glibc does, and stricter under every profile.
            self._names, self._seen = {}, None


def parse_hosts(text: str) -> dict[str, tuple[str, ...]]:
    """Name to address texts, as they stand there: what is no address is for the policy to refuse."""
    names: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        address, *aliases = line.partition("#")[0].split() or [""]
        for alias in aliases:
            name = alias.lower().removesuffix(".")
            known = names.get(name, ())
            names[name] = known if address in known else (*known, address)
    return names


def is_localhost(name: str) -> bool:
    """Whether RFC 6761 gives this name to the loopback addresses."""
    return name == "localhost" or name.endswith(".localhost")
