"""The head of an answer: bytes up to the blank line in, a frozen `Head` or `HeadError` out.

Rules: what h11 accepts is accepted with the same framing, what it refuses is refused or has a `fault` (a property
test holds both together). The head is parsed here all the same: h11 loses what a measurement is about (a repeated
Content-Length, the case of values) and takes as much CPU as everything else.
"""

from __future__ import annotations

import re

from msgspec import Struct

END = re.compile(rb"\n\r?\n")
"""The end of a head; the carriage return is optional, as RFC 9112 (2.2) allows a reader."""

_STATUS_LINE = re.compile(rb"HTTP/(\d\.\d) (\d{3})(?: (.*))?")
_TOKEN = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NEVER = re.compile(rb"[\x00\r\x0b\x0c]")
"""In no line: zero bytes, and what some readers take for the end of a line."""
_MOST_DIGITS = 20
_LONGEST = 2**63 - 1
"""No body is longer, and every reader of our records holds the number."""
_BLANKS = (b" ", b"\t")

Field = tuple[bytes, bytes]


class HeadError(ValueError):
    """The bytes are no head of HTTP/1; the message says why and never quotes them, they may be a secret."""


class Head(Struct, frozen=True):
    """One head: `fields` in wire order and case, `length` as declared, `is_chunked` wins over it.

    `fault` says why no body can be read behind this head: its framing contradicts itself or is none that we know.
    It means nothing where there is no body (RFC 9112, 6.3).
    """

    status: int
    reason: str
    version: str
    fields: list[Field]
    length: int | None
    is_chunked: bool
    by_name: dict[bytes, list[bytes]]
    """The values by name in lower case, each in wire order."""
    fault: str | None = None


def parse_head(block: bytes) -> Head:
    """The head that the block holds, the final blank line included or not."""
    text = block.replace(b"\r\n", b"\n").rstrip(b"\n")
    if _NEVER.search(text):
        raise HeadError("a control character in the head")
    lines = text.split(b"\n")
    match = _STATUS_LINE.fullmatch(lines[0])
    if match is None:
        raise HeadError("illegal status line")
    version, status, reason = match.groups(b"")
    if not version.startswith(b"1."):
        raise HeadError("the answer is not HTTP/1")
    if status < b"100":
        raise HeadError("illegal status")
    fields = _fields(lines)
    by_name: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        by_name.setdefault(name.lower(), []).append(value)
    length, is_chunked, fault = None, False, None
    try:
        length, is_chunked = _framing(by_name)
    except HeadError as error:
        fault = str(error)
    return Head(
        status=int(status),
        reason=reason.decode("latin-1"),
        version=version.decode("ascii"),
        fields=fields,
        length=length,
        is_chunked=is_chunked,
        by_name=by_name,
        fault=fault,
    )


def _fields(lines: list[bytes]) -> list[Field]:
    """The fields behind the first line."""
    fields: list[Field] = []
    folded: dict[int, list[bytes]] = {}
    for line in lines[1:]:
        if line[:1] in _BLANKS:
            if not fields:
                raise HeadError("a continuation line before any header")
            folded.setdefault(len(fields) - 1, []).append(line.strip(b" \t"))
            continue
        name, colon, value = line.partition(b":")
        if not colon or not name or name.translate(None, _TOKEN):
            raise HeadError("illegal header line")
        fields.append((name, value.strip(b" \t")))
    for index, more in folded.items():
        fields[index] = _unfolded(fields[index], more)
    return fields


def _unfolded(field: Field, more: list[bytes]) -> Field:
    """A field with further lines of value (obsolete, but legal to read: RFC 9112, 5.2), joined once."""
    name, value = field
    return name, b" ".join(part for part in (value, *more) if part)


def _framing(by_name: dict[bytes, list[bytes]]) -> tuple[int | None, bool]:
    """Declared length, and whether the body is chunked; contradictions are errors, since they hide requests."""
    codings = [value.lower() for value in by_name.get(b"transfer-encoding", ())]
    if codings and codings != [b"chunked"]:
        raise HeadError("a Transfer-Encoding other than chunked")
    declared = by_name.get(b"content-length", ())
    lengths = {part.strip() for value in declared for part in value.split(b",")}
    if len(lengths) > 1:
        raise HeadError("conflicting Content-Length headers")
    for length in lengths:
        if not (length.isdigit() and len(length) <= _MOST_DIGITS):
            raise HeadError("bad Content-Length")
        if int(length) > _LONGEST:
            raise HeadError("a Content-Length above 2**63 - 1")
        return int(length), bool(codings)
    return None, bool(codings)
