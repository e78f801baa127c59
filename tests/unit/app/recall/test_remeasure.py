"""How to measure again: everything that was given, nothing that was masked, and the places of what is missing."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from app.recall.remeasure import remeasure_with

MASK = "[redacted:api-key:0123abcd]"
UTF_16 = b64encode(b"\xff\xfe" + f"key {MASK}".encode("utf-16-le")).decode()
INNOCENT = b64encode(b"[redacted: nothing]").decode()


def again(arguments: dict[str, Any]) -> dict[str, Any]:
    return remeasure_with("facts.measure.http", arguments, lambda name: name.replace(".", "_"))


def test_what_holds_no_mask_comes_back_whole_under_the_advertised_name() -> None:
    arguments = {"project": "p", "url": "http://h.test/?a=1", "headers": {"Accept": "*/*"}, "samples": 3}

    answer = again(arguments)

    assert answer == {"tool": "facts_measure_http", "arguments": arguments, "omitted": []}


@pytest.mark.parametrize(
    ("arguments", "kept", "omitted"),
    [
        ({"url": f"http://h.test/?token={MASK}&n=1"}, {}, ["/url"]),
        ({"url": "http://h.test/?token=%5Bredacted%3Aparameter%3A0123abcd%5d"}, {}, ["/url"]),
        ({"headers": {"Authorization": f"Bearer {MASK}"}}, {"headers": {}}, ["/headers/Authorization"]),
        ({"headers": {MASK: "a", "B": "c"}}, {"headers": {"B": "c"}}, [f"/headers/{MASK}"]),
        ({"send": ["a", f'{{"token": "{MASK}"}}', "b"]}, {"send": ["a", "b"]}, ["/send/1"]),
        ({"send": [{"text": MASK, "n": 1}]}, {"send": []}, ["/send/0"]),
        ({"send": [{"base64": b64encode(MASK.encode()).decode()}]}, {"send": []}, ["/send/0"]),
        ({"send": [{"base64": UTF_16}, {"base64": INNOCENT}]}, {"send": [{"base64": INNOCENT}]}, ["/send/0"]),
        ({"payload": {"base64": UTF_16}}, {"payload": {}}, ["/payload/base64"]),
        ({"script": [["a", MASK], ["b", {"c": [1]}]]}, {"script": [["b", {"c": [1]}]]}, ["/script/0"]),
        ({MASK: {"a": [1]}, "b": 1}, {"b": 1}, [f"/{MASK}"]),
        ({MASK: [1], "b": 1}, {"b": 1}, [f"/{MASK}"]),
        ({"a/b": {"c~d": MASK}}, {"a/b": {}}, ["/a~1b/c~0d"]),
        ({"body": "I wrote [redacted:unheard-of:ffffffff] myself"}, {}, ["/body"]),
        ({"send": [{"base64": "no base64 at all"}]}, {"send": [{"base64": "no base64 at all"}]}, []),
        ({"body": "[redacted:cookie:0123]"}, {"body": "[redacted:cookie:0123]"}, []),
    ],
    ids=[
        "a mask in a query",
        "a mask that was percent-encoded",
        "a mask behind a scheme",
        "a masked name of a header",
        "a mask in one message of several",
        "a mask in an object of a list",
        "a mask among bytes",
        "a mask among bytes in UTF-16",
        "a mask among bytes outside a list",
        "a mask in a list of lists",
        "a masked name of an object",
        "a masked name of a list",
        "names that a pointer escapes",
        "a text of the caller that looks like a mask",
        "base64 that is none",
        "a text that only begins like a mask",
    ],
)
def test_what_holds_a_mask_is_left_out_and_named(
    arguments: dict[str, Any], kept: dict[str, Any], omitted: list[str]
) -> None:
    answer = again(arguments)

    assert (answer["arguments"], answer["omitted"]) == (kept, omitted)


def test_the_stored_arguments_are_left_as_they_are() -> None:
    arguments = {"headers": {"Cookie": MASK}, "send": [MASK, "a"]}

    again(arguments)

    assert arguments == {"headers": {"Cookie": MASK}, "send": [MASK, "a"]}
