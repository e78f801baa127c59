"""The allowlist: exact `host:port` entries, a name with the class mark it needs; malformed ones are lines of text.

The rules of this file:
- No wildcard, no default port, no scheme; an entry admits one host on one port and nothing beside it.
- A name reaches public addresses, or with a mark exactly the addresses of that class; one mark a name and port.
- A literal takes no mark: it reaches that address, however it is spelt.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import Final

from policy.address import Place, classify
from policy.errors import PolicyError, TargetError
from policy.names import is_local_name, is_metadata_name
from policy.table import MARKS, IPAddress
from policy.target import HostPort, host_port_text, parse_host_port

VARIABLE: Final = "PLINTH_FACTS_ALLOW_HOSTS"
_LONGEST_QUOTE: Final = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: host and port as they are compared, the address of a literal, the mark of a name."""

    host: str
    port: int
    address: IPAddress | None
    mark: str | None

    @property
    def text(self) -> str:
        """The entry as an operator would write it."""
        implied = self.mark is None or (self.mark == "loopback" and is_local_name(self.host))
        mark = "" if implied else f"@{self.mark}"
        return f"{host_port_text(self.host, self.port)}{mark}"


def parse_entries(text: str) -> tuple[Entry, ...]:
    """The entries of a comma-separated list, each once; `PolicyError` with one line a malformed entry."""
    entries: dict[tuple[str, int], Entry] = {}
    lines = []
    for part in text.split(","):
        try:
            entry = _entry(part.strip())
        except TargetError as error:
            lines.append(_line(part, error.message))
            continue
        if entries.setdefault((entry.host, entry.port), entry) != entry:
            lines.append(_line(part, "the same name and port is listed with another mark"))
    if lines:
        raise PolicyError(tuple(lines))
    return tuple(entries.values())


def unreachable_warning(entry: Entry, nat64_prefixes: tuple[IPv6Network, ...]) -> str | None:
    """Why a well-formed entry can never be reached, in one line; None when it can."""
    why = _why_unreachable(entry, nat64_prefixes)
    return None if why is None else f"{VARIABLE}: entry {entry.text} can never be reached: {why}"


def quoted(text: str) -> str:
    """A text of a setting for one line of stderr: escaped and of bounded length."""
    shown = ascii(text)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[:_LONGEST_QUOTE]}…"


def _line(part: str, message: str) -> str:
    return f"{VARIABLE}: entry {quoted(part.strip())}: {message}"


def _entry(text: str) -> Entry:
    target_text, at, mark = text.partition("@")
    target = parse_host_port(target_text)
    if at and mark not in MARKS:
        raise TargetError("bad_input", f"the mark after '@' must be one of {', '.join(sorted(MARKS))}")
    if target.address is not None:
        return _literal(target, mark)
    if is_local_name(target.host):
        mark = mark or "loopback"
    return Entry(target.host, target.port, None, mark or None)


def _literal(target: HostPort, mark: str) -> Entry:
    if mark:
        raise TargetError("bad_input", "an address takes no mark: it reaches exactly itself")
    return Entry(target.host, target.port, target.address, None)


def _why_unreachable(entry: Entry, nat64_prefixes: tuple[IPv6Network, ...]) -> str | None:
    if entry.address is not None:
        return _why_no_literal(classify(entry.address, nat64_prefixes))
    if is_metadata_name(entry.host):
        return "it is a name of a cloud metadata service"
    if is_local_name(entry.host) and entry.mark != "loopback":
        return "localhost is answered locally and only with loopback addresses"
    return None


def _why_no_literal(place: Place) -> str | None:
    if "I" in place.columns:
        return None
    return f"the class of the address is {place.label} ({place.title}), which no entry admits"
