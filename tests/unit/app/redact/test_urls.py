"""User and password in URLs."""

from __future__ import annotations

import pytest

from app.redact.urls import bare_userinfo, userinfo

URLS = {
    "user and password": ("see http://u:p@h.test/x", ["u:p"]),
    "a user alone": ("http://tokenuser@h.test/", ["tokenuser"]),
    "raw at signs": ("http://u:p@q@r@h.test/", ["u:p@q@r"]),
    "a raw slash": ("http://u:p/q@h.test/a@b", ["u:p/q"]),
    "a raw slash and a raw at sign": ("http://u:p/q@r@h.test/", ["u:p/q@r"]),
    "a raw hash": ("http://u:p#q@h.test/", ["u:p#q"]),
    "a raw question mark": ("http://u:p?q@h.test/", ["u:p?q"]),
    "no scheme": ("go to //u:p@h.test/", ["u:p"]),
    "a URL in a URL": ("http://h.test/?u=http://a:b@i.test/", ["a:b"]),
    "two in a row": ("http://a:b@h/,http://c:d@h/", ["a:b", "c:d"]),
    "a database": ("postgresql+asyncpg://u:p@h:5432/db", ["u:p"]),
    "backslashes": ("http:\\\\u:p@h/ http:/\\u:p@h/", ["u:p", "u:p"]),
    "no user": ("redis://:p@h:6379/0", [":p"]),
}


@pytest.mark.parametrize(("text", "secrets"), URLS.values(), ids=URLS)
def test_the_part_before_the_last_at_sign_is_found(text: str, secrets: list[str]) -> None:
    assert [text[span.start : span.end] for span in userinfo(text)] == secrets


@pytest.mark.parametrize(
    "text",
    [
        "http://h.test/@user",
        "http://h.test:80/a@b",
        "http://[::1]:80/@x",
        "http://[::1]/@x",
        "git@h.test:o/r",
        "a@b // c@d",
        "ssh://git@h.test/",
        "http://@h.test/",
        "http://h.test/?mail=a@b",
        "a://b:c/d",
        "http://h:/@x",
        "no url",
    ],
)
def test_an_at_sign_elsewhere_is_no_userinfo(text: str) -> None:
    assert list(userinfo(text)) == []


BARE = {
    "backslashes": ("http:\\\\u:p@h.test/", ["u:p"]),
    "no scheme": ("u:p@h.test:80/x", ["u:p"]),
    "no slashes": ("http:u:p@h.test/", ["u:p"]),
    "one slash": ("https:/u:p@h.test/", ["u:p"]),
    "two slashes": ("//u:p@h.test", ["u:p"]),
    "a space in the password": (" http://u:p q@h.test/", ["u:p q"]),
    "a raw slash without a scheme": ("u:p/q@h.test/", ["u:p/q"]),
    "a path": ("h.test/a@b", []),
    "no at sign": ("h.test:80", []),
    "git": ("git@h.test:o/r", []),
}


@pytest.mark.parametrize(("text", "secrets"), BARE.values(), ids=BARE)
def test_a_text_that_should_be_a_url_loses_its_userinfo(text: str, secrets: list[str]) -> None:
    assert [text[span.start : span.end] for span in bare_userinfo(text)] == secrets
