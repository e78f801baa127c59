"""The host part of a target: text in, a frozen `Host` out; refuses what two parsers could read differently.

The rules of this file:
- A dotted quad is canonical or refused; no number, octal, hexadecimal or short form is read as an address or a name.
- A name is letters, digits, hyphens and underscores; other letters are mapped to A-labels (UTS-46), and a mapping
  that yields plain ASCII or makes a character vanish is refused rather than followed.
- One trailing dot is allowed and remembered; percent-encoding, zone ids and empty labels are refused.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from policy.address import address_text, parse_address, parse_quad
from policy.errors import TargetError
from policy.table import IPAddress

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_OTHER_DOTS: Final = re.compile("[\u3002\uff0e\uff61]")
_LONGEST_NAME: Final = 253


class Host(NamedTuple):
    """A host as it will be compared: lower-case A-labels without the trailing dot, or an address in canonical text."""

    name: str
    address: IPAddress | None
    trailing_dot: bool


def parse_host(text: str) -> Host:
    """The host of a URL or of `host:port`, IPv6 in brackets; everything else is a `TargetError`."""
    if text.startswith("["):
        return _bracketed(text)
    undotted = text.removesuffix(".")
    quad = parse_quad(undotted)
    if quad is not None:
        return Host(undotted, quad, trailing_dot=undotted != text)
    _refuse_odd_characters(text)
    name = _name(undotted)
    return Host(name, None, trailing_dot=undotted != text)


def _bracketed(text: str) -> Host:
    if not text.endswith("]"):
        raise TargetError("bad_input", "nothing but a port may follow the brackets of an IPv6 address")
    inside = text[1:-1]
    if ":" not in inside:
        raise TargetError("bad_input", "brackets are for IPv6 addresses only")
    address = parse_address(inside)
    return Host(address_text(address), address, trailing_dot=False)


def _refuse_odd_characters(text: str) -> None:
    if not text or text == ".":
        raise TargetError("bad_input", "the host is missing")
    if len(text) > 4 * _LONGEST_NAME:
        raise TargetError("too_long", f"a host name has at most {_LONGEST_NAME} characters")
    if "//" in text:
        raise TargetError("bad_input", "no scheme belongs before the host")
    if ":" in text:
        raise TargetError("bad_input", "an IPv6 address needs brackets: [2001:db8::1]:443")
    if "%" in text:
        raise TargetError(
            "bad_input", "percent-encoding is not allowed in a host: write the characters themselves"
        )
    if _OTHER_DOTS.search(text):
        raise TargetError("ambiguous_host", "the labels of a host are separated by '.', not by a look-alike")


def _name(text: str) -> str:
    labels = [_label(label) for label in text.lower().split(".")] if text.isascii() else _mapped(text)
    if _NUMBER.fullmatch(labels[-1]):
        message = (
            "a host that ends in a number is not canonical: write four decimal octets without leading zeros"
        )
        raise TargetError("ambiguous_host", message)
    name = ".".join(labels)
    if len(name) > _LONGEST_NAME:
        raise TargetError("too_long", f"a host name has at most {_LONGEST_NAME} characters")
    return name


def _label(label: str) -> str:
    if not label:
        raise TargetError("bad_input", "a host has no empty label: one trailing dot at most, no '..'")
    if not _LABEL.fullmatch(label):
        message = "a label is 1 to 63 letters, digits, hyphens and underscores, with no hyphen at either end"
        raise TargetError("bad_input", message)
    if label.startswith("xn--"):
        _check_a_label(label)
    return label


def _mapped(text: str) -> list[str]:
    # idna costs a fifth of a second to import and most hosts are ASCII, so it is imported when it is needed.
    from idna import encode

    labels = []
    for label in text.split("."):
        if label.isascii():
            labels.append(_label(label.lower()))
            continue
        _refuse_vanishing(label)
        try:
            mapped = encode(label, uts46=True).decode("ascii")
        except UnicodeError:  # the root of what idna raises
            message = (
                "the host cannot be mapped to A-labels (UTS-46, IDNA 2008): write it as xn--… or correct it"
            )
            raise TargetError("bad_input", message) from None
        if not mapped.startswith("xn--"):
            message = "a character of the host maps to plain ASCII: write the ASCII character itself"
            raise TargetError("ambiguous_host", message)
        labels.append(_label(mapped))
    return labels


def _refuse_vanishing(label: str) -> None:
    """UTS-46 drops soft hyphens, zero-width spaces and the like: the eye and the wire would see different names."""
    from idna import uts46_remap

    for character in label:
        try:
            vanishes = not character.isascii() and uts46_remap(character, std3_rules=False) == ""
        except UnicodeError:
            continue  # not allowed at all: the mapping of the whole label says so
        if vanishes:
            raise TargetError(
                "ambiguous_host", "the host has an invisible character that the mapping would drop"
            )


def _check_a_label(label: str) -> None:
    """An `xn--` label must be what its own decoding maps to, or two clients would show two names (UTS-46, 4)."""
    from idna import uts46_remap

    try:
        decoded = label[4:].encode("ascii").decode("punycode")
        stable = uts46_remap(decoded, std3_rules=False) == decoded
        again = decoded.encode("punycode").decode("ascii")
    except (UnicodeError, OverflowError):
        stable, decoded, again = False, "", ""
    if not stable or decoded.isascii() or again != label[4:]:
        raise TargetError("ambiguous_host", "a label of the host starts with xn-- but is no valid A-label")
