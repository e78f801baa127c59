"""The facts as an agent gets them unless it asks for all: it pays for every token, and the whole is stored.

Left out is what is rarely read, what is empty, and what another field says already. Never left out: what tells success
from failure, phases that did not happen, and whatever is out of the ordinary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Facts = dict[str, Any]

LONGEST_TEXT = 1024
MOST_NAMES = 20
"""Names of a certificate of each sort; shared ones have hundreds."""
_FULL_ONLY = frozenset(
    {"policy", "local", "body_sha256", "tcp_info", "clock", "load", "raw_head", "arrivals"}
)
_UNLESS_NULL = frozenset(
    {
        *("resolution", "peer", "reason", "http_version", "body_encoding", "body_charset", "redirect", "tls"),
        *("error", "connection", "framing"),
    }
)
_OF_TARGET = ("input", "host", "port")
_OF_CERTIFICATE = ("subject", "issuer", "not_after", "seconds_to_not_after", "san", "unreadable", "error")
_OF_HANDSHAKE = frozenset({"verified_chain", "sni", "ocsp_stapled"})


def brief(facts: Mapping[str, Any]) -> Facts:
    """The facts of one measurement over HTTP, shortened; every hop of several too."""
    kept: Facts = {}
    for name, value in facts.items():
        if _is_left_out(name, value):
            continue
        shorten = _SHORTENED.get(name)
        short = shorten(value) if shorten is not None and value is not None else shortened(name, value)
        if not (shorten is not None and short in (None, [], {})):
            kept[name] = short
    return kept


def shortened(name: str, value: Any) -> Any:
    """Long texts of the target cut with a mark; the body has a limit of its own."""
    if isinstance(value, str) and name != "body" and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}… ({len(value)} characters; detail full has all)"
    if isinstance(value, list) and name in ("headers", "trailers"):
        return [[shortened("", part) for part in pair] for pair in value]
    if isinstance(value, dict) and name in ("redirect", "refused_by"):
        return {inner: shortened(inner, part) for inner, part in value.items()}
    return value


def _is_left_out(name: str, value: Any) -> bool:
    if name == "body":
        return False
    empty = value == [] or (value is None and name in _UNLESS_NULL) or (name == "extra_bytes" and value == 0)
    return name in _FULL_ONLY or empty


def _target(target: Facts) -> Facts:
    return {name: shortened(name, target[name]) for name in _OF_TARGET}


def _resolution(resolution: Facts) -> Facts | None:
    """How a name became addresses; a literal was not resolved, and its address is the peer."""
    if resolution["how"] == "literal":
        return None
    addresses = [_said(each) for each in resolution["addresses"]]
    return _said({**resolution, "addresses": addresses})


def _informational(answers: list[Facts]) -> list[Facts]:
    return [{**each, "headers": shortened("headers", each["headers"])} for each in answers]


def _attempts(attempts: list[Facts]) -> list[Facts]:
    """Nothing for one that worked, since peer and timings say it; the used one of several; all when none was."""
    used = [attempt for attempt in attempts if attempt["used"]]
    return [] if used and len(attempts) == 1 else used or attempts


def _body_bytes(sizes: Facts) -> Facts:
    return {name: value for name, value in sizes.items() if name != "decoded_at_least" or value}


def _body_charset(charset: Facts) -> Facts | None:
    """How the text was read, when it was not as plain UTF-8."""
    return None if charset == {"name": "utf-8", "from": "default", "replaced": False} else charset


def _tls(tls: Facts) -> Facts:
    """The handshake, whose certificate it was, and what was wrong with it, if anything was."""
    kept = {
        name: value for name, value in _said(tls).items() if name not in _OF_HANDSHAKE and value is not False
    }
    if "chain" in kept:
        leaf = kept["chain"][0]
        kept["chain"] = [_said({name: leaf[name] for name in _OF_CERTIFICATE if name in leaf})]
        if isinstance(leaf.get("san"), dict):
            san = {kind: names[:MOST_NAMES] for kind, names in leaf["san"].items()}
            kept["chain"][0]["san"] = _said(san)
    verify = kept.get("verify")
    if verify is not None and verify["code"] == 0:
        kept["verify"] = {"mode": verify["mode"], "code": 0}
    return kept


def _said(facts: Facts) -> Facts:
    """Without what is null or empty."""
    return {name: value for name, value in facts.items() if value is not None and value != []}


_SHORTENED: Mapping[str, Callable[[Any], Any]] = {
    "target": _target,
    "resolution": _resolution,
    "attempts": _attempts,
    "informational": _informational,
    "connection": _said,
    "body_bytes": _body_bytes,
    "body_charset": _body_charset,
    "tls": _tls,
    "hops": lambda hops: [brief(hop) for hop in hops[:-1]],  # the last one is what stands at the top
}
