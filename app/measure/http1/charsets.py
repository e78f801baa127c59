"""The charset labels that are honoured: text codecs that every supported Python has, by what servers call them.

A table of our own, since the codecs of Python include ones that are no charset (`rot13`, `hex`, `idna`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_CODECS = (
    ("utf-8", "utf-8 utf8"),
    ("utf-16-le", "utf-16 utf-16le"),  # without a mark: what browsers do, whatever RFC 2781 said
    ("utf-16-be", "utf-16be"),
    ("utf-32-le", "utf-32 utf-32le"),
    ("utf-32-be", "utf-32be"),
    ("ascii", "us-ascii ascii"),
    ("iso8859-1", "iso-8859-1 iso8859-1 latin1 latin-1 l1"),
    *((f"iso8859-{part}", f"iso-8859-{part} iso8859-{part}") for part in (*range(2, 12), *range(13, 17))),
    *((f"cp{page}", f"windows-{page} cp{page} cp-{page}") for page in range(1250, 1259)),
    ("cp437", "ibm437 cp437"),
    ("cp850", "ibm850 cp850"),
    ("cp866", "ibm866 cp866"),
    ("cp874", "windows-874 cp874 tis-620"),
    ("koi8-r", "koi8-r koi8"),
    ("koi8-u", "koi8-u"),
    ("mac-roman", "macintosh mac-roman"),
    ("shift_jis", "shift-jis sjis x-sjis"),
    ("cp932", "windows-31j cp932"),
    ("euc_jp", "euc-jp x-euc-jp"),
    ("iso2022_jp", "iso-2022-jp"),
    ("euc_kr", "euc-kr ks-c-5601-1987"),
    ("cp949", "windows-949 cp949"),
    ("gbk", "gbk gb2312 x-gbk"),
    ("gb18030", "gb18030"),
    ("big5", "big5 big5-hkscs"),
)

CHARSETS: Mapping[str, str] = MappingProxyType(
    {label: codec for codec, labels in _CODECS for label in labels.split()}
)
"""Label (lower case, hyphens) to the codec of Python that reads it."""
