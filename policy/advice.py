"""What an operator would have to configure: the first setting that works, tried from the narrowest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from ipaddress import IPv6Network

from policy.address import classify, parse_address
from policy.allowlist import VARIABLE as ALLOW_VARIABLE
from policy.allowlist import Entry
from policy.judge import Question, judge_address
from policy.names import is_literal, is_local_name
from policy.rules import NAT64_VARIABLE, PROFILE_VARIABLE, Rules
from policy.table import MARKS

_Candidate = tuple[str, Rules]


def advise(rules: Rules, asked: Sequence[Question]) -> str | None:
    """The first setting under which every one of the addresses would be allowed; None when there is none."""
    if any(each.own_listener or each.place.never for each in asked):
        return None
    for text, candidate in _candidates(rules, asked[0]):
        if all(judge_address(candidate, each).allowed for each in asked):
            return text
    return _with_nat64(rules, asked)


def advise_name(rules: Rules, host: str, port: int) -> str:
    """The setting that would admit a name, whose addresses nobody knows yet."""
    if rules.profile == "allowlist":
        return next(_entry_candidates(rules, host, port))[0]
    return f"{PROFILE_VARIABLE}={'loopback' if is_local_name(host) else 'private'}"


def _candidates(rules: Rules, asked: Question) -> Iterator[_Candidate]:
    if rules.profile != "allowlist":
        yield f"{PROFILE_VARIABLE}=loopback", Rules("loopback", nat64=rules.nat64)
        yield f"{PROFILE_VARIABLE}=private", Rules("private", nat64=rules.nat64)
    yield from _entry_candidates(rules, asked.host, asked.port)


def _entry_candidates(rules: Rules, host: str, port: int) -> Iterator[_Candidate]:
    prefix = "" if rules.profile == "allowlist" else f"{PROFILE_VARIABLE}=allowlist with "
    for entry in _entries(host, port):
        yield f"{prefix}{ALLOW_VARIABLE} entry {entry.text}", Rules("allowlist", (entry,), rules.nat64)


def _entries(host: str, port: int) -> Iterator[Entry]:
    if is_literal(host):
        yield Entry(host, port, parse_address(host), None)
        return
    if is_local_name(host):
        yield Entry(host, port, None, "loopback")
        return
    yield Entry(host, port, None, None)
    for mark in sorted(MARKS):
        yield Entry(host, port, None, mark)


def _with_nat64(rules: Rules, asked: Sequence[Question]) -> str | None:
    """The same once more with the translators of the answer vouched for."""
    prefixes = {prefix for each in asked for prefix in _not_vouched(rules, each)}
    if not prefixes:
        return None
    nat64 = tuple(sorted({*rules.nat64, *prefixes}, key=lambda prefix: (-prefix.prefixlen, prefix)))
    vouched = [_reclassified(each, nat64) for each in asked]
    setting = f"{NAT64_VARIABLE}={','.join(map(str, nat64))}"
    wider = replace(rules, nat64=nat64)
    if all(judge_address(wider, each).allowed for each in vouched):
        return setting
    for text, candidate in _candidates(wider, asked[0]):
        if all(judge_address(candidate, each).allowed for each in vouched):
            return f"{text} and {setting}"
    return None


def _not_vouched(rules: Rules, asked: Question) -> Iterator[IPv6Network]:
    """The prefix that the setting lacks for this address, if it is one behind NAT64."""
    effective = asked.place.effective
    if asked.place.name != "nat64" or effective is None or any(effective in each for each in rules.nat64):
        return
    # The network of a local-use prefix is not ours to know; the common /96 is what its label was read with, and
    # it is one only with bits 64 to 71 zero (RFC 6052).
    if not int(effective) >> 56 & 0xFF:
        yield IPv6Network((int(effective) >> 32 << 32, 96))


def _reclassified(asked: Question, nat64: Sequence[IPv6Network]) -> Question:
    effective = asked.place.effective
    return asked if effective is None else asked._replace(place=classify(effective, nat64))
