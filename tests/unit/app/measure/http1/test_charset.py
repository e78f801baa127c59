"""Bytes become text by a codec that is named; nothing here can fail."""

from __future__ import annotations

import pytest

from app.measure.http1.charset import Text, as_text, declared_charset


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        pytest.param(b"abc", None, Text("abc", "utf-8", "default", False), id="nothing is declared"),
        pytest.param(b"abc", '"utf-8"', Text("abc", "utf-8", "header", False), id="a label in quotes"),
        pytest.param(
            b"\xe4", "ISO_8859-1", Text("ä", "iso8859-1", "header", False), id="an underscore in the label"
        ),
        pytest.param(
            "ж".encode("cp1251"), "windows-1251", Text("ж", "cp1251", "header", False), id="Cyrillic"
        ),
        pytest.param(
            b"\xef\xbb\xbfa", "latin-1", Text("a", "utf-8", "bom", False), id="the mark wins over the label"
        ),
        pytest.param(b"\xff\xfea\0", None, Text("a", "utf-16-le", "bom", False), id="the mark of UTF-16"),
        pytest.param(
            b"\xfe\xff\0a", "utf-16", Text("a", "utf-16-be", "bom", False), id="big-endian by its mark"
        ),
        pytest.param(
            b"\xff\xfe\0\0a\0\0\0", None, Text("a", "utf-32-le", "bom", False), id="UTF-32 is not UTF-16"
        ),
        pytest.param(b"a\0", "utf-16", Text("a", "utf-16-le", "header", False), id="UTF-16 without a mark"),
        pytest.param(b"plain", "utf-16", Text("plain", "utf-8", "default", False), id="ASCII called UTF-16"),
        pytest.param(
            b"\xd8\x00", "utf-16be", Text("\ufffd", "utf-16-be", "header", True), id="half a surrogate pair"
        ),
        pytest.param(
            b"a\x80b", "utf-8", Text("a\ufffdb", "utf-8", "header", True), id="one byte that is none"
        ),
        pytest.param(b"\xe4", "us-ascii", Text("\ufffd", "ascii", "header", True), id="a lie about ASCII"),
    ],
)
def test_the_codec_is_that_of_the_mark_then_the_label_then_utf8(
    data: bytes, declared: str | None, text: Text
) -> None:
    assert as_text(data, declared, is_cut=False) == text


@pytest.mark.parametrize(
    "label", ["rot13", "hex", "idna", "unicode", "unicode_escape", "utf-7", "", "utf-8,gbk", "\x00"]
)
def test_a_label_that_is_no_charset_is_not_applied(label: str) -> None:
    assert as_text(b"\\u0041", label, is_cut=False) == Text("\\u0041", "utf-8", "default", replaced=False)


def test_a_character_that_our_cut_divided_is_left_out() -> None:
    assert as_text("aä".encode()[:2], None, is_cut=True) == Text("a", "utf-8", "default", replaced=False)


def test_a_character_that_the_peer_divided_is_replaced() -> None:
    assert as_text("aä".encode()[:2], None, is_cut=False) == Text(
        "a\ufffd", "utf-8", "default", replaced=True
    )


@pytest.mark.parametrize(
    ("content_type", "declared"),
    [
        ("text/html", None),
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;boundary=x; CHARSET = "gbk" ', '"gbk"'),
        ("text/html; charset=", ""),
        ("text/html; charset=utf-8,charset=utf-8", "utf-8,charset=utf-8"),
        ("text/html; charset", None),
    ],
)
def test_the_first_charset_parameter_counts(content_type: str, declared: str | None) -> None:
    assert declared_charset(content_type) == declared
