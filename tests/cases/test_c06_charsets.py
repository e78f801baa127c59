"""C06: no label and no byte makes a measurement fail; the text view says how it came about."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

CYRILLIC = "Привет".encode("cp1251")


@pytest.mark.parametrize(
    ("label", "body", "text", "charset"),
    [
        ("charset=utf-8,charset=utf-8", "ä".encode(), "ä", ("utf-8", "default", False)),
        ("charset=utf-8,gbk", "ä".encode(), "ä", ("utf-8", "default", False)),
        ("charset=no-such-thing", "ä".encode(), "ä", ("utf-8", "default", False)),
        ('charset="utf-8"', "ä".encode(), "ä", ("utf-8", "header", False)),
        ("charset=", "ä".encode(), "ä", ("utf-8", "default", False)),
        ("charset=rot13", b"uryyb", "uryyb", ("utf-8", "default", False)),
        ("charset=hex", b"616263", "616263", ("utf-8", "default", False)),
        ("charset=idna", b"xn--", "xn--", ("utf-8", "default", False)),
        ("charset=unicode", b"abc", "abc", ("utf-8", "default", False)),
        ("charset=utf-16", "hä".encode("utf-16"), "hä", ("utf-16-le", "bom", False)),
        ("charset=utf-16", "hä".encode("utf-16-le"), "hä", ("utf-16-le", "header", False)),
        ("charset=utf-16", b"plain ASCII", "plain ASCII", ("utf-8", "default", False)),
        ("charset=windows-1251", CYRILLIC, "Привет", ("cp1251", "header", False)),
        ("", CYRILLIC, "\ufffd" * 6, ("utf-8", "default", True)),
        ("charset=latin-1", b"\xef\xbb\xbfabc", "abc", ("utf-8", "bom", False)),
        ("charset=utf-8", b"a\x80b", "a\ufffdb", ("utf-8", "header", True)),
    ],
)
def test_c06_the_text_names_its_codec_and_the_bytes_stay_the_fact(
    measure_http: Any, byte_server: Any, label: str, body: bytes, text: str, charset: tuple[str, str, bool]
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; {label}\r\nContent-Length: {len(body)}\r\n\r\n"
    server = byte_server([["read", head.encode() + body, "eof"]])

    outcome = measure_http(server.url)

    name, origin, replaced = charset
    assert (outcome.ok, outcome.error, outcome.data["body"]) == (True, None, text)
    assert outcome.data["body_charset"] == {"name": name, "from": origin, "replaced": replaced}
    assert outcome.data["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert outcome.data["body_bytes"]["encoded"] == len(body)
