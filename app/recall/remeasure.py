"""How to measure again: the tool and the exact arguments of a stored observation, and what cannot be given back.

Knows no kind: the arguments are whatever was stored. A secret was masked before that, and a masked argument would
measure something else; it is left out and named, so that whoever knows the secret can put it in.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final

MASK: Final = re.compile(
    r"(?:\[|%5B)redacted(?::|%3A)[a-z-]{1,40}(?::|%3A)[0-9a-f]{8}(?:\]|%5D)", re.ASCII | re.IGNORECASE
)
"""What stands for a secret in everything that is stored; a text of the caller that looks so is taken for one."""


def remeasure_with(
    tool: str, arguments: Mapping[str, Any], advertised: Callable[[str], str]
) -> dict[str, Any]:
    """`{tool, arguments, omitted}`: the tool as advertised, all arguments but the masked ones, and those by place.

    `omitted` holds JSON Pointers (RFC 6901) into the stored arguments in their order: the secrets put in by `add`
    (RFC 6902), one after another, give the call that was made. Of an object only the entry is left out; an item of a
    list is left out as a whole, since half of it would be another item.
    """
    omitted: list[str] = []
    kept = _entries(arguments, "", omitted)
    return {"tool": advertised(tool), "arguments": kept, "omitted": omitted}


def _entries(values: Mapping[str, Any], pointer: str, omitted: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in values.items():
        here = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, Mapping) and not MASK.search(name):
            kept[name] = _entries(value, here, omitted)
        elif isinstance(value, list) and not MASK.search(name):
            kept[name] = _items(value, here, omitted)
        elif _is_masked(name, value):
            omitted.append(here)
        else:
            kept[name] = value
    return kept


def _items(values: list[Any], pointer: str, omitted: list[str]) -> list[Any]:
    kept = []
    for index, value in enumerate(values):
        if _is_masked("", value):
            omitted.append(f"{pointer}/{index}")
        else:
            kept.append(value)
    return kept


def _is_masked(name: str, value: Any) -> bool:
    """Whether a mask stands in the name or anywhere in the value, also among bytes in base64."""
    if MASK.search(name):
        return True
    if isinstance(value, str):
        return bool(MASK.search(value)) or (name == "base64" and bool(MASK.search(_bytes_of(value))))
    if isinstance(value, Mapping):
        return any(_is_masked(key, inner) for key, inner in value.items())
    return isinstance(value, list) and any(_is_masked("", inner) for inner in value)


def _bytes_of(text: str) -> str:
    """What base64 holds, read so that a mask shows in UTF-16 as well; nothing where it is none."""
    try:
        return b64decode(text, validate=True).replace(b"\0", b"").decode("latin-1")
    except binascii.Error:
        return ""
