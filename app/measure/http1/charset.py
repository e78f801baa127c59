"""Bytes as text: which codec, why that one, and whether bytes had to be replaced; nothing here can fail.

The codec is the byte order mark's, else the declared one if it is a text codec of the table, else UTF-8.
"""

from __future__ import annotations

import codecs
from typing import Literal

from msgspec import Struct

from app.measure.http1.charsets import CHARSETS

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Longest first where one begins another: the mark of UTF-32 begins with that of UTF-16."""
_FIRST_OF_MARK = frozenset(mark[:1] for mark, _ in _MARKS)


class Text(Struct, frozen=True):
    """A text view of bytes; `name` is the codec, `origin` tells where it came from."""

    text: str
    name: str
    origin: Literal["bom", "header", "default"]
    replaced: bool


def as_text(data: bytes, declared: str | None, *, is_cut: bool) -> Text:
    """The text view; a character that our cut divided is left out instead of counted as replaced."""
    if data[:1] in _FIRST_OF_MARK:
        for mark, name in _MARKS:
            if data.startswith(mark):
                return _decoded(data[len(mark) :], name, "bom", is_cut=is_cut)
    codec = CHARSETS.get(_label(declared)) if declared is not None else None
    if codec is None or (codec.startswith(("utf-16", "utf-32")) and _is_plainly_utf8(data)):
        return _decoded(data, "utf-8", "default", is_cut=is_cut)
    return _decoded(data, codec, "header", is_cut=is_cut)


def declared_charset(content_type: str) -> str | None:
    """The first charset parameter of a Content-Type, as written, without quotes; None when there is none."""
    for parameter in content_type.split(";")[1:]:
        name, separator, value = parameter.partition("=")
        if separator and name.strip().lower() == "charset":
            return value.strip()
    return None


def _label(declared: str) -> str:
    return declared.strip("\"' \t").lower().replace("_", "-")


def _is_plainly_utf8(data: bytes) -> bool:
    """Whether a declared UTF-16 is a lie: its text has zero bytes wherever it is Latin, UTF-8 has none."""
    if b"\0" in data:
        return False
    return not _decoded(data, "utf-8", "default", is_cut=True).replaced


def _decoded(data: bytes, name: str, origin: Literal["bom", "header", "default"], *, is_cut: bool) -> Text:
    try:
        if not is_cut:
            return Text(data.decode(name), name, origin, replaced=False)
        return Text(codecs.getincrementaldecoder(name)().decode(data), name, origin, replaced=False)
    except UnicodeDecodeError:
        lenient = codecs.getincrementaldecoder(name)("replace")
        return Text(lenient.decode(data, final=not is_cut), name, origin, replaced=True)
