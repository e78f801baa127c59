"""JSON is a value only where the value says all that the text said."""

from __future__ import annotations

from typing import Any

import pytest

from app.measure.http1.faithful import DEPTH_LIMIT, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, -2, 0.5, true, null, "x"]}', {"a": [1, -2, 0.5, True, None, "x"]}),
        ("null", None),
        (" 7 ", 7),
        ("18446744073709551615", 18446744073709551615),
        ("-9223372036854775808", -9223372036854775808),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        ("-0.0", 0.0),
        ("0.1000000000000000000", 0.1),
        ('"\\ud83d\\ude00"', "😀"),
        ("[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT, None),
    ],
)
def test_a_faithful_value_is_given(text: str, value: Any) -> None:
    found = value_of(text)

    assert found is not None
    assert value is None or found == (value,)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1, "a": 2}', id="a repeated key"),
        pytest.param('[{"b": {"a": 1, "a": 1}}]', id="a repeated key further down"),
        pytest.param("NaN", id="NaN"),
        pytest.param("[-Infinity]", id="Infinity"),
        pytest.param("1e400", id="a number that would become infinite"),
        pytest.param("1e-400", id="a number that would become zero"),
        pytest.param("0.12345678901234567890123", id="more digits than a float has"),
        pytest.param("18446744073709551616", id="more than 64 bits"),
        pytest.param("-9223372036854775809", id="less than 64 bits"),
        pytest.param("9" * 5000, id="more digits than Python converts"),
        pytest.param("-0", id="a negative zero that would lose its sign"),
        pytest.param('"\\ud800"', id="a surrogate without its half"),
        pytest.param('{"\\udc00": 1}', id="the same in a key"),
        pytest.param("[" * (DEPTH_LIMIT + 1) + "]" * (DEPTH_LIMIT + 1), id="one level too deep"),
        pytest.param("[" * 200_000, id="deep enough to exhaust a recursive parser"),
        pytest.param('{"a":' * 100 + "1" + "}" * 100, id="objects too deep"),
        pytest.param("{'a': 1}", id="no JSON"),
        pytest.param("", id="nothing"),
        pytest.param("1 2", id="two values"),
    ],
)
def test_a_text_that_says_more_than_its_value_stays_text(text: str) -> None:
    assert value_of(text) is None
