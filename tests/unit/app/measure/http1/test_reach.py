"""How a target is reached: arguments that cannot be are refused by name."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import msgspec
import pytest

from app.errors import ToolError
from app.measure.http1.arguments import HttpParams
from app.measure.http1.reach import Reach, reach_of
from policy import parse_host_port


def reach(**arguments: Any) -> Reach:
    return reach_of(msgspec.convert({"project": "p", "url": "http://a/", **arguments}, HttpParams))


def test_without_arguments_the_target_itself_is_reached_once() -> None:
    assert reach() == Reach()


def test_what_was_asked_for_becomes_typed() -> None:
    asked = reach(
        connect_to="[::1]:81",
        source="127.0.0.9",
        addresses="all",
        samples=3,
        interval_ms=250,
        connect_timeout_ms=1500,
        verify="observe",
    )

    assert asked == Reach(
        connect_to=parse_host_port("[::1]:81"),
        source=ip_address("127.0.0.9"),
        verify="observe",
        connect_timeout_s=1.5,
        each_address=True,
        samples=3,
        interval_s=0.25,
    )
    assert (asked.visit().measurements, asked.visit().tls.verify) == (3, "observe")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("connect_to", text) for text in ("svc.test", "svc.test:", ":80", "::1:80", "a:080", "a b:80", "")),
        *(
            ("source", text)
            for text in (
                "localhost",
                "127.1",
                "fe80::1%lo",
                "127.0.0.1:80",
                "10.0.0.0/8",
                "0.0.0.0",
                "::",
                "224.0.0.1",
                "",
            )
        ),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(field: str, value: str) -> None:
    with pytest.raises(ToolError) as caught:
        reach(**{field: value})

    assert (caught.value.code, caught.value.field) == ("invalid_arguments", field)


def test_a_mapped_source_is_the_ipv4_that_it_holds() -> None:
    assert reach(source="::ffff:127.0.0.1").source == ip_address("127.0.0.1")
