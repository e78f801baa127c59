"""B05: garbage on standard input; the process lives, each ping is answered, and nothing is executed by guess."""

from __future__ import annotations

from typing import Any

REQUEST = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
CALL = (
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"facts_measure_http",'
    b'"arguments":{"project":"cases","url":"http://x\xff\xfe"}}}\n'
)
PARSE = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}}


def invalid(message: str, **known: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **known, "error": {"code": -32600, "message": message}}


GARBAGE: dict[str, tuple[bytes, list[Any]]] = {
    "two invalid bytes": (b"\xff\xfe\n", [PARSE]),
    "a line that is no JSON": (b"NOT JSON\n", [PARSE]),
    "a call with invalid bytes in its url": (CALL, [PARSE]),
    "an empty line": (b"\n", []),
    "a line of blanks": (b"   \n", []),
    "a byte order mark": (b"\xef\xbb\xbf" + REQUEST.encode() + b"\n", [PARSE]),
    "UTF-16": ((REQUEST + "\n").encode("utf-16-le"), [PARSE]),
    "UTF-16 with a narrow line end": (REQUEST.encode("utf-16-le") + b"\n", [PARSE]),
    "an empty array": (b"[]\n", [invalid("Batches are not supported")]),
    "a null": (b"null\n", [invalid("A message is a JSON object")]),
    "a text": (b'"x"\n', [invalid("A message is a JSON object")]),
    "another JSON-RPC": (
        REQUEST.replace("2.0", "1.0").encode() + b"\n",
        [invalid('jsonrpc must be "2.0"', id=7)],
    ),
    "ten megabytes without a line end": (
        b"x" * 10_000_000 + b"\n",
        [invalid("A line has at most 4 MiB")],
    ),
}


def test_b05_each_piece_of_garbage_is_answered_and_each_ping_after_it(server: Any) -> None:
    facts = server()
    for index, (garbage, _) in enumerate(GARBAGE.values()):
        facts.write(garbage)
        facts.ping(index)

    expected: list[Any] = []
    for index, (_, answers) in enumerate(GARBAGE.values()):
        expected += [*answers, {"jsonrpc": "2.0", "id": index, "result": {}}]
    assert facts.said() == expected


def test_b05_the_server_ends_in_good_order_after_garbage(server: Any) -> None:
    facts = server()
    facts.write(b"".join(garbage for garbage, _ in GARBAGE.values()))
    facts.hang_up()

    assert facts.ended() == 0
