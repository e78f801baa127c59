"""A11: odd texts are refused, or judged for exactly the host that would be connected to."""

from __future__ import annotations

import pytest

from policy import TargetError, parse_url

TRICKS = {
    " http://127.0.0.1:80/": "bad_input",
    "http://ok.test\t:80/": "bad_input",
    "http://ok.te\r\nst/": "bad_input",
    "http://ok.test:80\\@169.254.169.254/": "bad_input",
    "http://ok.test:80@169.254.169.254:81/": "userinfo_not_allowed",
    "http://a\0b/": "bad_input",
    "http://ok.test%00.evil/": "bad_input",
    "http://ok%2etest/": "bad_input",
    "http:127.0.0.1:80/": "bad_input",
    "http:///127.0.0.1/": "bad_input",
    "//127.0.0.1/": "bad_scheme",
    "": "bad_scheme",
    "a" * 1_048_576: "too_long",
}


@pytest.mark.parametrize("text", TRICKS, ids=lambda text: ascii(text)[:40])
def test_a11_a_trick_is_refused_with_its_rule(text: str) -> None:
    with pytest.raises(TargetError) as refusal:
        parse_url(text)

    assert refusal.value.reason_code == TRICKS[text]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://ok.test#@169.254.169.254/", "http://ok.test/"),
        ("HTTP://OK.test:80/", "http://ok.test/"),
        ("http://ok.test?@169.254.169.254/", "http://ok.test/?@169.254.169.254/"),
    ],
)
def test_a11_what_is_read_names_the_host_that_is_judged(text: str, url: str) -> None:
    target = parse_url(text)

    assert (target.host, target.authority, target.url) == ("ok.test", "ok.test", url)


def test_a11_user_information_never_appears_in_the_refusal() -> None:
    with pytest.raises(TargetError) as refusal:
        parse_url("http://CANARY:CANARY@ok.test/?CANARY")

    assert "CANARY" not in repr(refusal.value)
