"""The head of an answer: bytes up to the blank line in, a frozen `Head` out, or `HeadError` when it is no HTTP/1.

Rules: whatever has a status line of HTTP/1 is read, nothing of it is lost, and each place where it departs from the
grammar (RFC 9112) is listed in `deviations`. Where the departure leaves open how long the body is, the head has a
`fault` and no body is read. What h11 accepts has the same framing here; what it refuses is refused here, or has a fault
or a deviation (a property test holds both together).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

FIELD_LIMIT: Final = 1000
"""Fields of one head; real ones have a few dozen."""
DEVIATIONS: Final[Mapping[str, str]] = {
    "lf_line_end": "a line ends with LF alone",
    "blank_line_before_status_line": "blank lines come before the status line",
    "extra_space_in_status_line": "the status line has more blanks than its grammar",
    "no_reason": "the status line ends with the status",
    "http_version_above_1_1": "the version is HTTP/1.2 or higher",
    "folded_header": "a header goes on over the next line",
    "continuation_before_any_header": "a line that continues a header stands before any",
    "space_before_colon": "blanks stand between the name of a header and its colon",
    "header_name_not_token": "the name of a header has characters that no name may have",
    "header_without_name": "a header line begins with its colon",
    "line_without_colon": "a header line has no colon; it is kept in the raw head alone",
    "control_character": "a control character stands in a line, such as NUL or a bare CR",
    "repeated_content_length": "Content-Length came more than once, with the same number",
    "content_length_list": "one Content-Length holds several numbers",
    "content_length_not_digits": "a Content-Length is not a plain decimal number",
    "content_length_and_transfer_encoding": "both came; chunks win",
    "transfer_encoding_in_http_1_0": "Transfer-Encoding in an answer of HTTP/1.0",
    "repeated_transfer_encoding": "Transfer-Encoding came more than once",
}
"""Every name that `deviations` may hold, and what it says."""

_END = re.compile(rb"\n\r?\n")
_LEADING = re.compile(rb"[\r\n]*")
_MOST_LEADING = 16
"""Bytes of blank lines before a status line; more are no answer."""
_STATUS_LINE = re.compile(rb"HTTP/(1\.\d)([ \t]+)(\d{3})(?![^ \t])([ \t]*)(.*)", re.DOTALL)
_START = b"HTTP/1."
_UNFINISHED = re.compile(rb"(?:\d(?:[ \t]+(?:[1-9]\d{0,2}|[1-9]\d\d(?:\r|[ \t].*))?)?)?", re.DOTALL)
"""What may stand behind `_START` while the end of the line has not come: what some rest makes a status line."""
_TOKEN = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_MOST_DIGITS = 20
_LONGEST = 2**63 - 1
"""No body is longer, and every reader of our records holds the number."""
_BLANKS = b" \t"

Field = tuple[bytes, bytes]


class HeadError(ValueError):
    """The bytes are no head of HTTP/1, or one of too many fields; the message never quotes them."""

    def __init__(self, message: str, *, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.is_too_large = is_too_large


class Head(Struct, frozen=True):
    """One head: `fields` in wire order and case, `length` as declared, `is_chunked` wins over it.

    `fault` says why no body can be read behind this head: its framing contradicts itself or is none that we know.
    It means nothing where there is no body (RFC 9112, 6.3). `deviations` are names of `DEVIATIONS`, as met.
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
    deviations: tuple[str, ...] = ()


def end_of_head(data: bytes | bytearray, start: int = 0) -> int:
    """The offset behind the blank line that ends the head, -1 when it has not come; nothing before `start` is searched.

    Blank lines before the status line are part of the head and do not end it.
    """
    leading = _LEADING.match(data)
    found = _END.search(data, max(start, leading.end() if leading else 0))
    return found.end() if found else -1


def check_start(data: bytes) -> None:
    """`HeadError` as soon as these first bytes cannot become an answer of HTTP/1."""
    line, _, is_whole = _first_line(data)
    if is_whole:
        _status_line(line)
    elif not (
        _START.startswith(line) or (line.startswith(_START) and _UNFINISHED.fullmatch(line, len(_START)))
    ):
        raise HeadError("illegal status line" if line.startswith(_START) else "the answer is not HTTP/1")


def parse_head(block: bytes) -> Head:
    """The head that the block holds, the final blank line included or not."""
    return _head(block, keeps_first=False)


def _head(block: bytes, *, keeps_first: bool) -> Head:
    """The head; of too many fields the first ones, or `HeadError`."""
    line, rest, _ = _first_line(block)
    version, status, reason, odd = _status_line(line)
    reading = _Reading(odd, keeps_first=keeps_first)
    reading.note("blank_line_before_status_line", when=block[:1] in (b"\r", b"\n"))
    unended = block.replace(b"\r\n", b"")
    reading.note("lf_line_end", when=b"\n" in unended)
    reading.note("control_character", when=_CONTROL.search(unended) is not None)
    reading.read_lines(rest)
    length, is_chunked, fault = reading.framing(version)
    return Head(
        status=status,
        reason=reason.decode("latin-1"),
        version=version.decode("ascii"),
        fields=reading.fields,
        length=length,
        is_chunked=is_chunked,
        by_name=reading.by_name,
        fault=fault,
        deviations=tuple(reading.deviations),
    )


def partial_head(block: bytes) -> Head | None:
    """The head as far as its whole lines go, of too many fields the first ones; None without a status line."""
    whole = block[: block.rfind(b"\n") + 1]
    try:
        return _head(whole, keeps_first=True) if whole.strip(b"\r\n") else None
    except HeadError:
        return None


def _first_line(data: bytes) -> tuple[bytes, bytes, bool]:
    """The first line that is not blank, what follows it, and whether its end has come."""
    leading = _LEADING.match(data)
    begin = leading.end() if leading else 0
    if begin > _MOST_LEADING:
        raise HeadError("the answer begins with blank lines")
    end = data.find(b"\n", begin)
    if end < 0:
        return data[begin:], b"", False
    return data[begin:end].removesuffix(b"\r"), data[end + 1 :], True


def _status_line(line: bytes) -> tuple[bytes, int, bytes, list[str]]:
    """Version, status and reason, and what is odd about the line."""
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise HeadError("illegal status line" if line.startswith(b"HTTP/") else "the answer is not HTTP/1")
    version, gap, status, second_gap, reason = match.groups()
    if status < b"100":
        raise HeadError("illegal status")
    odd = []
    if gap != b" " or second_gap not in (b"", b" "):
        odd.append("extra_space_in_status_line")
    if not second_gap:
        odd.append("no_reason")
    if version > b"1.1":
        odd.append("http_version_above_1_1")
    return version, int(status), reason, odd


class _Reading:
    """The fields of one head while its lines are read, with what was odd about them."""

    def __init__(self, odd: list[str], *, keeps_first: bool) -> None:
        self._keeps_first = keeps_first
        self._is_full = False
        self.deviations: dict[str, None] = dict.fromkeys(odd)
        self.fields: list[Field] = []
        self.by_name: dict[bytes, list[bytes]] = {}

    def note(self, deviation: str, *, when: bool = True) -> None:
        """List a deviation, once."""
        if when:
            self.deviations[deviation] = None

    def read_lines(self, text: bytes) -> None:
        """Read the lines behind the first one, up to the blank line if there is one."""
        folded: dict[int, list[bytes]] = {}
        for line in text.replace(b"\r\n", b"\n").split(b"\n"):
            if self._is_full:
                break
            if not line:
                continue
            if line[:1] in (b" ", b"\t"):
                self.note("folded_header" if self.fields else "continuation_before_any_header")
                folded.setdefault(len(self.fields) - 1, []).append(line.strip(_BLANKS))
            else:
                self._field(line)
        for index, more in folded.items():
            if index >= 0:
                self.fields[index] = _unfolded(self.fields[index], more)
        for name, value in self.fields:
            self.by_name.setdefault(name.lower(), []).append(value)

    def _field(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon:
            self.note("line_without_colon")
            return
        if len(self.fields) == FIELD_LIMIT:
            if not self._keeps_first:
                raise HeadError(f"more than {FIELD_LIMIT} header fields", is_too_large=True)
            self._is_full = True
            return
        if not name or name.translate(None, _TOKEN):
            name = self._odd_name(name)
        self.fields.append((name, value.strip(_BLANKS)))

    def _odd_name(self, name: bytes) -> bytes:
        stripped = name.rstrip(_BLANKS)
        self.note("space_before_colon", when=len(stripped) < len(name))
        self.note("header_without_name", when=not stripped)
        self.note("header_name_not_token", when=bool(stripped.translate(None, _TOKEN)))
        return stripped

    def framing(self, version: bytes) -> tuple[int | None, bool, str | None]:
        """Declared length, whether the body is chunked, and why neither can be relied on."""
        codings = [value.lower() for value in self.by_name.get(b"transfer-encoding", ())]
        declared = self.by_name.get(b"content-length", ())
        if codings:
            self.note("transfer_encoding_in_http_1_0", when=version < b"1.1")
            self.note("repeated_transfer_encoding", when=len(codings) > 1)
            self.note("content_length_and_transfer_encoding", when=bool(declared))
        fault = None
        if codings and codings != [b"chunked"]:
            fault = "a Transfer-Encoding other than chunked"
        length, why = self._length(declared) if declared else (None, None)
        fault = fault or why
        return (length, bool(codings), None) if fault is None else (None, False, fault)

    def _length(self, declared: list[bytes] | tuple[()]) -> tuple[int | None, str | None]:
        """The one number that all of Content-Length agrees on; contradictions are faults, since they hide requests."""
        self.note("repeated_content_length", when=len(declared) > 1)
        self.note("content_length_list", when=any(b"," in value for value in declared))
        lengths = {part.strip(_BLANKS) for value in declared for part in value.split(b",")}
        if not all(length.isdigit() for length in lengths):
            self.note("content_length_not_digits")
        if len(lengths) > 1:
            return None, "conflicting Content-Length headers"
        (length,) = lengths
        if not (length.isdigit() and len(length) <= _MOST_DIGITS):
            return None, "bad Content-Length"
        if int(length) > _LONGEST:
            return None, "a Content-Length above 2**63 - 1"
        return int(length), None


def _unfolded(field: Field, more: list[bytes]) -> Field:
    """A field with further lines of value (obsolete, but legal to read: RFC 9112, 5.2), joined once."""
    name, value = field
    return name, b" ".join(part for part in (value, *more) if part)
