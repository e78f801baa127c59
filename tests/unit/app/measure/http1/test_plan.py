"""Arguments that this server does not do are refused by name before anything is dialled."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import ToolError
from app.measure.kind import Limits

Measure = Any
Script = Any
HERE = ("10.0.0.1", 80)
URL = "http://10.0.0.1/"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.mark.parametrize(
    ("arguments", "field", "reason_code"),
    [
        ({"method": "DELETE"}, "method", "bad_input"),
        ({"method": "get"}, "method", "bad_input"),
        ({"headers": {"Host": "a"}}, "headers", "bad_input"),
        ({"body": "\ud800"}, "body", "bad_input"),
        ({"max_redirects": 6}, "max_redirects", "bad_input"),
        ({"url": "ftp://10.0.0.1/"}, "url", "bad_scheme"),
        ({"url": "http://user:CANARY@10.0.0.1/"}, "url", "userinfo_not_allowed"),
    ],
)
def test_an_argument_that_cannot_be_done_is_named_and_nothing_is_dialled(
    measure: Measure, script: Script, arguments: dict[str, Any], field: str, reason_code: str | None
) -> None:
    network = script({HERE: [EMPTY]})
    with pytest.raises(ToolError) as raised:
        measure(**{"url": URL, **arguments}, network=network)

    error = raised.value
    assert (error.code, error.field, error.reason_code) == ("invalid_arguments", field, reason_code)
    assert "CANARY" not in str(error)
    assert network.dialled == []


def test_the_refusal_of_a_method_names_what_is_allowed_and_by_what(measure: Measure) -> None:
    with pytest.raises(ToolError, match=r"one of GET, HEAD, OPTIONS; PLINTH_FACTS_HTTP_METHODS"):
        measure(URL, method="POST")


def test_the_operator_widens_the_methods_but_never_to_a_tunnel(measure: Measure, script: Script) -> None:
    limits = Limits(http_methods=frozenset({"POST", "CONNECT"}))

    assert measure(URL, script({HERE: [EMPTY]}), method="POST", limits=limits).ok
    with pytest.raises(ToolError, match="use one of POST;"):
        measure(URL, method="CONNECT", limits=limits)
