"""Who may call: hosts and origins compared as a whole, tokens that are never told."""

from __future__ import annotations

import pytest

from app.errors import StartError
from app.transport.access import Caller, Gate, Tokens

GATE = Gate.of(["facts.example", "facts.example.org:8443"], ["https://console.example"])
FILE = """
# who asks
anna measure,recall  anna-has-this-token
bob read bob-has-another-token~

"""


@pytest.mark.parametrize(
    ("values", "admitted"),
    [
        (["127.0.0.1:8000"], True),
        (["127.0.0.1"], True),
        (["localhost:8000"], True),
        (["[::1]:8000"], True),
        (["LOCALHOST.:8000"], True),
        (["facts.example"], True),
        (["facts.example:9"], True),
        (["facts.example.org:8443"], True),
        (["facts.example.org"], False),
        (["evil.test"], False),
        (["127.0.0.1:8000.evil.test"], False),
        (["127.0.0.1:8000@evil"], False),
        (["localhost.evil.test"], False),
        (["evil.test:localhost"], False),
        ([""], False),
        ([], False),
        (["localhost", "localhost"], False),
    ],
)
def test_a_host_is_listed_or_not_admitted(values: list[str], admitted: bool) -> None:  # noqa: FBT001 - a column
    assert GATE.admits_host(values) is admitted


@pytest.mark.parametrize(
    ("values", "admitted"),
    [
        ([], True),
        (["http://localhost:8000"], True),
        (["https://127.0.0.1"], True),
        (["http://[::1]:5"], True),
        (["https://console.example"], True),
        (["https://console.example:444"], False),
        (["http://console.example"], False),
        (["http://localhost:8000.evil.test"], False),
        (["https://evil.test"], False),
        (["null"], False),
        (["http://localhost/"], False),
        (["http://localhost", "http://localhost"], False),
        (["file://localhost"], False),
    ],
)
def test_an_origin_is_listed_or_not_admitted(values: list[str], admitted: bool) -> None:  # noqa: FBT001 - a column
    assert GATE.admits_origin(values) is admitted


@pytest.mark.parametrize(
    ("hosts", "origins"), [(["a/b"], []), (["*"], []), ([], ["console.example"]), ([], ["*"])]
)
def test_an_entry_that_is_none_stops_the_start(hosts: list[str], origins: list[str]) -> None:
    with pytest.raises(StartError):
        Gate.of(hosts, origins)


@pytest.mark.parametrize(
    ("values", "caller"),
    [
        (["Bearer anna-has-this-token"], Caller("anna", frozenset({"measure", "recall"}))),
        (["bearer  bob-has-another-token~"], Caller("bob", frozenset({"read"}))),
        (["Bearer anna-has-this-toke"], None),
        (["Basic anna-has-this-token"], None),
        (["anna-has-this-token"], None),
        (["Bearer anna-has-this-token", "Bearer anna-has-this-token"], None),
        ([], None),
    ],
)
def test_a_token_says_who_calls(values: list[str], caller: Caller | None) -> None:
    assert Tokens.parse(FILE).caller(values) == caller


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("anna measure", "line 1: expected NAME SCOPE[,SCOPE] TOKEN"),
        ("anna all secret-secret-secret", "line 1: expected NAME SCOPE[,SCOPE] TOKEN"),
        ("an/na read secret-secret-secret", "line 1: expected NAME SCOPE[,SCOPE] TOKEN"),
        ("anna read secret", "line 1: a token has at least 16"),
        ("anna read secret-secret-secret!", "line 1: a token has at least 16"),
        (
            "a read secret-secret-secret\nb read secret-secret-secret",
            "line 2: this token stands there already",
        ),
    ],
)
def test_a_line_that_is_none_is_named_and_not_told(line: str, why: str) -> None:
    with pytest.raises(StartError) as stopped:
        Tokens.parse(line)

    assert str(stopped.value).startswith(why)
    assert "secret" not in str(stopped.value)


def test_tokens_are_kept_as_hashes() -> None:
    tokens = Tokens.parse(FILE)

    assert len(tokens) == 2
    assert "anna-has-this-token" not in repr(vars(tokens))
