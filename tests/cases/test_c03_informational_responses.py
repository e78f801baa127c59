"""C03: interim answers are listed and never become the answer.

aio-libs/aiohttp#1353 · notatallshaw/nab#1130 · snoyberg/http-client#521 · JuliaWeb/HTTP.jl#1360
"""

from __future__ import annotations

from typing import Any

import pytest

EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def interim(status: int, lines: bytes = b"") -> bytes:
    return b"HTTP/1.1 %d X\r\n%s\r\n" % (status, lines)


@pytest.mark.parametrize(
    ("wire", "status", "body", "listed"),
    [
        pytest.param(EARLY + OK, 200, "hi", [103], id="an early hint"),
        pytest.param(
            interim(100) + interim(102) + EARLY + interim(199) + b"HTTP/1.1 204 X\r\n\r\n",
            204,
            None,
            [100, 102, 103, 199],
            id="four of them",
        ),
        pytest.param(interim(103, b"Content-Length: 5\r\n") + OK, 200, "hi", [103], id="one with a length"),
    ],
)
def test_c03_the_answer_is_the_final_one_and_interim_ones_are_listed(
    measure_http: Any, byte_server: Any, wire: bytes, status: int, body: str | None, listed: list[int]
) -> None:
    outcome = measure_http(byte_server([["read", wire, "eof"]]).url)

    data = outcome.data
    assert (outcome.error, data["http_status"], data["body"]) == (None, status, body)
    assert [each["status"] for each in data["informational"]] == listed
    assert all(0 < each["at_ms"] <= data["timings"]["total_ms"] for each in data["informational"])


def test_c03_the_headers_of_an_interim_answer_are_its_own(measure_http: Any, byte_server: Any) -> None:
    data = measure_http(byte_server([["read", EARLY, ("wait", 0.05), OK, "eof"]]).url).data

    assert data["informational"][0]["headers"] == [["Link", "</a>"]]
    assert data["headers"] == [["Content-Length", "2"]]
    assert (data["timings"]["first_byte_ms"] < 45, data["timings"]["head_ms"] >= 45) == (True, True)


def test_c03_endless_interim_answers_are_a_protocol_error_with_the_count(
    measure_http: Any, byte_server: Any
) -> None:
    outcome = measure_http(byte_server([["read", EARLY * 500, "hang"]]).url)

    assert (outcome.ok, outcome.error["code"], outcome.error["informational"]) == (
        False,
        "protocol_error",
        65,
    )
    assert len(outcome.data["informational"]) == 64


def test_c03_a_switch_that_nobody_asked_for_is_a_protocol_error(measure_http: Any, byte_server: Any) -> None:
    outcome = measure_http(byte_server([["read", b"HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n", "hang"]]).url)

    assert (outcome.ok, outcome.error["code"], outcome.data["http_status"]) == (False, "protocol_error", 101)


def test_c03_nothing_after_an_interim_answer_is_no_answer(measure_http: Any, byte_server: Any) -> None:
    outcome = measure_http(byte_server([["read", interim(100), "eof"]]).url)

    assert (outcome.ok, outcome.error["code"], outcome.data["http_status"]) == (
        False,
        "closed_without_answer",
        None,
    )
    assert [each["status"] for each in outcome.data["informational"]] == [100]
