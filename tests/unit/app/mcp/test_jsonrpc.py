"""The reading and writing of JSON-RPC messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.errors import RequestError
from app.mcp.jsonrpc import (
    Array,
    Invalid,
    Message,
    Notification,
    Request,
    Response,
    error_line,
    notification_line,
    read,
    refusal,
    result_line,
)

ECHOED = {
    "zero": 0,
    "a negative number": -1,
    "two to the 53 and one": 9007199254740993,
    "more than 64 bits": 123456789012345678901234567890,
    "a number as text": "1",
    "the empty string": "",
    "a letter and a NUL": "é\u0000",
    "a long string": "x" * 100_000,
}
REFUSED_IDS = {
    "a whole float": "1.0",
    "a float": "1.5",
    "null": "null",
    "a boolean": "true",
    "an object": "{}",
    "an array": "[1]",
}
UNREADABLE = {
    "invalid UTF-8": b"\xff\xfe",
    "invalid UTF-8 inside": b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\xff\xfe"}}',
    "a lone surrogate": b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\\ud800"}}',
    "an encoded surrogate": b'"\xed\xa0\x80"',
    "no JSON": b"NOT JSON",
    "two values": b"1 2",
    "NaN": b"NaN",
    "a raw control character": b'"\x01"',
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "UTF-16": '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16-le"),
    "no end": b'{"jsonrpc":"2.0","id":1',
    "a nesting that exhausts the stack": b"[" * 200_000,
}
INVALID: dict[str, tuple[str, Message]] = {
    "a null": ("null", Invalid(None, -32600, "A message is a JSON object")),
    "a string": ('"x"', Invalid(None, -32600, "A message is a JSON object")),
    "an empty object": ("{}", Invalid(None, -32600, 'jsonrpc must be "2.0"')),
    "another version": (
        '{"jsonrpc":"1.0","id":3,"method":"ping"}',
        Invalid(3, -32600, 'jsonrpc must be "2.0"'),
    ),
    "no method": ('{"jsonrpc":"2.0","id":3}', Invalid(3, -32600, "method must be a string")),
    "a method that is a number": (
        '{"jsonrpc":"2.0","id":3,"method":1}',
        Invalid(3, -32600, "method must be a string"),
    ),
    "parameters in an array": (
        '{"jsonrpc":"2.0","id":3,"method":"x","params":[]}',
        Invalid(3, -32602, "params must be an object"),
    ),
    "an empty batch": ("[]", Array(())),
    "a batch of odd things": (
        '[1,[],{"jsonrpc":"2.0","method":"n"}]',
        Array(
            (
                Invalid(None, -32600, "A message is a JSON object"),
                Invalid(None, -32600, "A message is a JSON object"),
                Notification("n", {}),
            )
        ),
    ),
}


@pytest.mark.parametrize("id_", ECHOED.values(), ids=ECHOED)
def test_an_id_comes_back_unchanged(id_: Any) -> None:
    request = read(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "ping"}).encode())

    assert isinstance(request, Request)
    answer = json.loads(result_line(request.id, b"{}"))["id"]
    assert (type(answer), answer) == (type(id_), id_)


@pytest.mark.parametrize("text", REFUSED_IDS.values(), ids=REFUSED_IDS)
def test_an_id_of_another_type_is_refused_and_left_out(text: str) -> None:
    message = read(f'{{"jsonrpc":"2.0","id":{text},"method":"ping"}}'.encode())

    assert message == Invalid(None, -32600, "id must be a string or an integer")


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_json_is_a_parse_error_without_id(line: bytes) -> None:
    assert read(line) == Invalid(None, -32700, "Parse error")


@pytest.mark.parametrize(("text", "expected"), INVALID.values(), ids=INVALID)
def test_what_is_no_request_is_named(text: str, expected: Message) -> None:
    assert read(text.encode()) == expected


def test_a_request_is_read_with_its_parameters() -> None:
    message = read(b'{"jsonrpc":"2.0","id":"a","method":"m","params":{"b":[1]}}')

    assert message == Request("a", "m", {"b": [1]})


def test_null_parameters_count_as_none() -> None:
    assert read(b'{"jsonrpc":"2.0","id":1,"method":"m","params":null}') == Request(1, "m", {})


def test_a_notification_with_odd_parameters_is_still_a_notification() -> None:
    assert read(b'{"jsonrpc":"2.0","method":"m","params":[1]}') == Notification("m", {})


@pytest.mark.parametrize("member", ["result", "error"])
def test_a_response_is_recognised(member: str) -> None:
    assert read(f'{{"jsonrpc":"2.0","id":1,"{member}":{{}}}}'.encode()) == Response()


def nested(depth: int) -> bytes:
    value = "[" * depth + "]" * depth
    return f'{{"jsonrpc":"2.0","id":4,"method":"m","params":{{"a":{value}}}}}'.encode()


def test_nesting_up_to_the_limit_is_read() -> None:
    assert isinstance(read(nested(126)), Request)


@pytest.mark.parametrize("depth", [127, 900])
def test_deeper_nesting_is_refused_with_the_id(depth: int) -> None:
    assert read(nested(depth)) == Invalid(4, -32600, "The message nests deeper than 128 levels")


def test_deep_objects_are_refused_like_deep_arrays() -> None:
    message = read(b'{"a":' * 200 + b"1" + b"}" * 200)

    assert message == Invalid(None, -32600, "The message nests deeper than 128 levels")


def test_many_shallow_values_are_not_deep() -> None:
    message = read(b'{"jsonrpc":"2.0","id":4,"method":"m","params":{"a":[' + b"[]," * 500 + b"[]]}}")

    assert message == Request(4, "m", {"a": [[]] * 501})


def test_an_error_without_id_leaves_it_out() -> None:
    line = error_line(None, -32700, "Parse error")

    assert line == b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}'


def test_a_refusal_carries_id_and_data() -> None:
    line = refusal(Request("é", "m", {}), RequestError(-32022, "No", {"supported": []}))

    assert line.decode() == (
        '{"jsonrpc":"2.0","id":"é","error":{"code":-32022,"message":"No","data":{"supported":[]}}}'
    )


def test_a_notification_line_has_no_id() -> None:
    assert notification_line("n", {"a": 1}) == b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}'
