"""Secrets out of an observation: by place in our own structure, by search in what others wrote."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import Any

import pytest

from app.errors import ToolError
from app.measure.kind import Outcome
from app.redact import Redactor
from app.tools.observation import EACH_PAYLOAD, bulk_of, error_content, redacted

CANARY = "c4nary-9f8e7d6c5b4a"
REDACTOR = Redactor(b"k" * 32)
MASK = re.compile(r"\[redacted:[a-z-]+:[0-9a-f]{8}\]")
KEY = [
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7",
    "VJTUt9Us8cKjMzEfYyjiWA4R4ypbHqGC0H0+tG3hGbN4BBcaXZAq",
]


def clean(data: dict[str, Any], arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    event = redacted(REDACTOR, "facts.measure.http", arguments or {}, Outcome(ok=True, data=data), 0)
    assert event.data is not None
    return event.data


def test_headers_are_masked_by_name_in_every_hop() -> None:
    headers = [["Set-Cookie", f"sid={CANARY}; Path=/"], ["ETag", '"abc"']]

    data = clean({"headers": headers, "hops": [{"headers": headers}]})

    assert CANARY not in str(data)
    assert data["headers"][1] == ["ETag", '"abc"']
    assert data["hops"][0]["headers"] == data["headers"]


def test_the_headers_of_the_arguments_are_masked_and_keep_their_names() -> None:
    arguments = {
        "url": "http://127.0.0.1/",
        "headers": {"Authorization": f"Bearer {CANARY}", "Accept": "a/b"},
    }

    event = redacted(REDACTOR, "facts.measure.http", arguments, Outcome(ok=True, data={}), 0)

    assert event.arguments["headers"]["Authorization"].startswith("Bearer [redacted:authorization:")
    assert event.arguments["headers"]["Accept"] == "a/b"


def test_an_echo_of_a_secret_of_the_call_is_masked_where_no_pattern_would_see_it() -> None:
    arguments = {"headers": {"X-Api-Key": CANARY}}

    data = clean({"body": f"you sent {CANARY}, thanks", "body_encoding": "text"}, arguments)

    assert data["body"].startswith("you sent [redacted:")


def test_a_body_of_json_is_masked_by_the_names_of_its_members() -> None:
    data = clean({"body": {"refresh_token": CANARY, "count": 3}, "body_encoding": "json"})

    assert CANARY not in str(data)
    assert data["body"]["count"] == 3


def test_a_body_in_base64_is_searched_as_bytes() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n".encode()
    data = clean({"body": b64encode(b"\x00" + key).decode(), "body_encoding": "base64"})

    assert CANARY.encode() not in b64decode(data["body"])


def test_the_code_of_an_error_is_no_secret() -> None:
    outcome = Outcome(ok=False, data={}, error={"code": "timeout", "phase": "body", "message": "m"})

    event = redacted(REDACTOR, "facts.measure.http", {}, outcome, 0)

    assert event.error == {"code": "timeout", "phase": "body", "message": "m"}


def test_urls_lose_their_secret_parameters_and_keep_their_shape() -> None:
    data = clean({"target": {"input": f"http://h/p?api%5Fkey={CANARY}&n=1"}, "redirect": {"location": "/x"}})

    assert data["target"]["input"].startswith("http://h/p?api%5Fkey=[redacted:")
    assert data["target"]["input"].endswith("&n=1")
    assert data["redirect"]["location"] == "/x"


def test_figures_and_nulls_stay_what_they_are() -> None:
    facts: dict[str, Any] = {
        "timings": {"connect_ms": 0.1, "tls_ms": None},
        "truncated": False,
        "headers": [],
    }

    assert clean(facts) == facts


HEADS = {
    "a header by its name": f"HTTP/1.1 200 OK\r\nX-Api-Key: {CANARY}\r\nETag: 1\r\n\r\n",
    "line feeds alone": f"HTTP/1.1 200 OK\nX-Api-Key: {CANARY}\nETag: 1\n\n",
    "a space before the colon": f"HTTP/1.1 200 OK\r\nX-Api-Key : {CANARY}\r\n\r\n",
    "a value on the next line": f"HTTP/1.1 200 OK\r\nX-Api-Key:\r\n\t{CANARY}\r\n\r\n",
    "cookies on two lines": f"HTTP/1.1 200 OK\r\nSet-Cookie: a={CANARY};\r\n c={CANARY}; Path=/\r\n\r\n",
    "a head that was cut in a secret": f"HTTP/1.1 200 OK\r\nETag: 1\r\nX-Api-Key: {CANARY}",
    "a header in the first line": f"X-Api-Key: {CANARY}\r\nETag: 1\r\n\r\n",
    "an informational answer": f"HTTP/1.1 103 E\r\nX-Api-Key: {CANARY}\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "a reason with a secret": f"HTTP/1.1 401 password={CANARY}\r\nETag: 1\r\n\r\n",
    "a reason with a colon": f"HTTP/1.1 401 no: token={CANARY}\r\n\r\n",
    "a carriage return alone": f"HTTP/1.1 200 OK\r\nA: 1\rX-Api-Key: {CANARY}\r\n\r\n",
    "a value that continues no header": f"HTTP/1.1 200 OK\r\n X-Api-Key: {CANARY}\r\nETag: 1\r\n\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_raw_head_loses_the_secret_and_keeps_every_other_character(head: str) -> None:
    data = clean({"raw_head": {"text": head, "bytes": 9, "truncated": False}})

    assert CANARY not in data["raw_head"]["text"]
    assert MASK.sub(CANARY, data["raw_head"]["text"]) == head
    assert data["raw_head"] | {"text": ""} == {"text": "", "bytes": 9, "truncated": False}


@pytest.mark.parametrize(
    "head",
    [
        "HTTP/1.1 200 OK\r\nETag: 1\r\nX-Csrf-Token:\r\nDate: Tue\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "220 every token: required\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\nno colon\r\n\r\n",
        "",
    ],
    ids=["an empty secret", "no HTTP", "a sentence with a colon", "lines that are no headers", "nothing"],
)
def test_a_raw_head_without_a_secret_stays_as_it_came(head: str) -> None:
    assert clean({"raw_head": {"text": head}}) == {"raw_head": {"text": head}}


def test_a_private_key_in_what_is_no_head_is_masked_over_its_lines() -> None:
    data = clean({"raw_head": {"text": "\r\n".join(KEY)}})

    assert not any(line in data["raw_head"]["text"] for line in KEY)


def test_headers_and_trailers_that_are_nested_are_masked_by_name() -> None:
    fields = [["X-Api-Key", CANARY]]

    data = clean(
        {"informational": [{"status": 103, "headers": fields, "at_ms": 1.5}], "hops": [{"trailers": fields}]}
    )

    assert CANARY not in str(data)
    assert data["informational"][0] | {"headers": []} == {"status": 103, "headers": [], "at_ms": 1.5}


@pytest.mark.parametrize(
    "sent",
    ["you sent " + CANARY, "\x00\xff\r\n'" + CANARY, CANARY.upper() + "\n", "you sent " + CANARY[:9]],
    ids=["plain", "among escapes", "in another case", "cut by the limit"],
)
def test_a_known_secret_in_the_escaped_first_bytes_of_an_error_is_masked(sent: str) -> None:
    escaped = sent.encode("unicode_escape").decode()
    error = {"code": "protocol_error", "phase": "head", "first_bytes": escaped}
    arguments = {"headers": {"X-Api-Key": CANARY}}

    event = redacted(REDACTOR, "facts.measure.http", arguments, Outcome(ok=False, data={}, error=error), 0)

    assert event.error is not None
    assert CANARY[:9] not in event.error["first_bytes"].lower()
    assert len(MASK.findall(event.error["first_bytes"])) == 1


def test_a_known_secret_whose_bytes_are_escaped_themselves_is_masked() -> None:
    escaped = f"\u00e9\u00e8{CANARY}\\".encode().decode("latin-1").encode("unicode_escape").decode()
    arguments = {"headers": {"X-Api-Key": f"\u00e9\u00e8{CANARY}\\"}}
    outcome = Outcome(ok=False, data={}, error={"first_bytes": f"ab {escaped} cd"})

    event = redacted(REDACTOR, "facts.measure.http", arguments, outcome, 0)

    assert event.error is not None
    assert MASK.sub("", event.error["first_bytes"]) == "ab  cd"


def test_messages_are_searched_as_text_or_bytes_and_what_stands_beside_stays() -> None:
    packed = b64encode(f"\xff password={CANARY}".encode("latin-1")).decode()
    text = {"index": 0, "received_at": "t", "type": "text", "text": f'{{"token": "{CANARY}"}}', "frames": 1}
    binary = {"index": 1, "received_at": "t", "type": "binary", "base64": packed, "frames": 1}

    data = clean({"messages": [text, binary], "sent": [{"index": 0, "text": "hello"}]})

    assert CANARY not in data["messages"][0]["text"]
    assert CANARY.encode() not in b64decode(data["messages"][1]["base64"])
    assert data["messages"][0] | {"text": ""} == text | {"text": ""}
    assert data["messages"][1] | {"base64": ""} == binary | {"base64": ""}
    assert data["sent"] == [{"index": 0, "text": "hello"}]


def test_a_private_key_that_comes_line_by_line_is_masked_in_every_message() -> None:
    data = clean({"messages": [{"text": line} for line in ["before", *KEY]]})

    assert data["messages"][0] == {"text": "before"}
    assert all(MASK.search(message["text"]) for message in data["messages"][2:])


def test_a_message_that_holds_neither_text_nor_bytes_stays() -> None:
    assert clean({"messages": [{"index": 0}], "bytes": {"sent": 12}}) == {
        "messages": [{"index": 0}],
        "bytes": {"sent": 12},
    }


def test_the_messages_to_send_are_masked_in_the_arguments_in_every_form() -> None:
    packed = b64encode(f"password={CANARY}".encode()).decode()
    arguments = {"send": [f"token={CANARY}", {"text": f"token={CANARY}"}, {"base64": packed}, "ping"]}

    event = redacted(REDACTOR, "facts.measure.ws", arguments, Outcome(ok=True, data={}), 0)

    text, given, binary, ping = event.arguments["send"]
    assert (MASK.sub("", text), {key: MASK.sub("", value) for key, value in given.items()}, ping) == (
        "token=",
        {"text": "token="},
        "ping",
    )
    assert MASK.sub("", b64decode(binary["base64"]).decode()) == "password="


def test_the_reason_of_a_close_is_searched_for_what_was_sent() -> None:
    arguments = {"send": [f'{{"token": "{CANARY}"}}']}

    data = clean({"close": {"code": 1008, "reason": f"{CANARY} is wrong", "clean": True}}, arguments)

    assert MASK.sub("", data["close"]["reason"]) == " is wrong"
    assert data["close"] | {"reason": ""} == {"code": 1008, "reason": "", "clean": True}


def test_an_echo_of_a_secret_that_was_sent_as_bytes_is_masked() -> None:
    packed = b64encode(f"login password={CANARY}".encode()).decode()

    data = clean({"messages": [{"text": f"{CANARY} is wrong"}]}, {"send": ["a", {"base64": packed}]})

    assert MASK.sub("", data["messages"][0]["text"]) == " is wrong"


@pytest.mark.parametrize("send", [None, "text", ["a"], [{"base64": "?"}], [{"base64": "ü"}]])
def test_arguments_of_any_shape_can_be_searched(send: Any) -> None:
    event = redacted(REDACTOR, "facts.measure.ws", {"send": send}, Outcome(ok=True, data={}), 0)

    assert event.arguments == {"send": send}


def test_a_base64_that_is_none_is_searched_as_the_text_that_it_is() -> None:
    assert (
        MASK.sub("", clean({"payload": {"base64": f"password={CANARY}"}})["payload"]["base64"]) == "password="
    )


def test_bytes_outside_messages_are_searched_as_bytes() -> None:
    packed = b64encode(f"password={CANARY}".encode()).decode()

    assert CANARY.encode() not in b64decode(clean({"banner": {"base64": packed}})["banner"]["base64"])


def test_the_bulk_counts_what_strangers_wrote_in_every_hop() -> None:
    head = {"raw_head": {"text": "h" * 10, "bytes": 99}, "body": "b" * 100}
    messages = [{"text": "t" * 1000}, {"base64": "x" * 1000}, {"index": 1}]

    bulk = bulk_of(
        {**head, "hops": [head, {"raw_head": None}], "messages": messages, "sent": [{"text": "s"}]}
    )

    assert bulk == 2 * (2 * 10 + 100) + 2001 + 4 * EACH_PAYLOAD


def test_nothing_has_no_bulk() -> None:
    assert bulk_of({}) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"headers": {"X-Api-Key": CANARY}}, " is bad"), ({"url": "http://h.test/"}, f"{CANARY} is bad")],
    ids=["a secret of the call", "a call without secrets"],
)
def test_an_error_quotes_no_secret_of_the_call(arguments: dict[str, Any], message: str) -> None:
    content = error_content(REDACTOR, ToolError("invalid_arguments", f"{CANARY} is bad"), arguments)

    assert MASK.sub("", content["message"]) == message


def test_a_fold_behind_a_line_without_a_colon_is_masked_as_the_header_before_it() -> None:
    head = f"HTTP/1.1 200 OK\r\nSet-Cookie: sid=\r\nnocolon\r\n {CANARY}\r\nServer: x\r\n\r\n"

    told = clean({"raw_head": {"text": head, "bytes": len(head), "truncated": False}})["raw_head"]["text"]

    assert (CANARY in told, told.endswith("\r\nServer: x\r\n\r\n")) == (False, True)


@pytest.mark.parametrize(
    "subprotocols",
    [["v4.channel.k8s.io", f"base64url.bearer.authorization.k8s.io.{CANARY}"], ["access_token", CANARY]],
)
def test_a_token_among_the_subprotocols_is_masked_wherever_it_shows(subprotocols: list[str]) -> None:
    data = {"subprotocol": subprotocols[1], "messages": [{"text": f"you are {CANARY}"}]}

    event = redacted(
        REDACTOR, "facts.measure.ws", {"subprotocols": subprotocols}, Outcome(ok=True, data=data), 0
    )

    assert CANARY not in str(event.arguments) + str(event.data)
    assert event.arguments["subprotocols"][0] == subprotocols[0]


def test_the_bulk_counts_trailers_and_interim_answers() -> None:
    long = [["A", "x" * 1000]]

    assert bulk_of({"trailers": long, "informational": [{"headers": long}]}) > 2000
