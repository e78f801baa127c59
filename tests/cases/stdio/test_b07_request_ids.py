"""B07: request ids come back unchanged, or the request is refused."""

from __future__ import annotations

from typing import Any

ECHOED = [0, -1, 9007199254740993, "1", "", "0", "é\u0000", "x" * 100_000]
REFUSED = ["1.0", "1.5", "null", "true", "{}", "[1]"]


def test_b07_texts_and_integers_come_back_as_they_are(server: Any) -> None:
    facts = server()
    for id_ in ECHOED:
        facts.ask(id_, "ping")

    ids = [answer["id"] for answer in facts.lines(len(ECHOED))]
    assert [(type(id_), id_) for id_ in ids] == [(type(id_), id_) for id_ in ECHOED]


def test_b07_the_answers_of_calls_carry_their_ids_too(server: Any) -> None:
    facts = server()
    facts.initialize()
    for id_ in ECHOED:
        facts.call(id_, "http://10.0.0.1/")

    codes = [facts.content(id_)["code"] for id_ in ECHOED]
    assert codes == ["policy_denied"] * len(ECHOED)


def test_b07_any_other_id_is_refused_and_never_met_with_silence(server: Any) -> None:
    facts = server()
    for text in REFUSED:
        facts.write(f'{{"jsonrpc":"2.0","id":{text},"method":"ping"}}\n'.encode())

    error = {"code": -32600, "message": "id must be a string or an integer"}
    assert facts.lines(len(REFUSED)) == [{"jsonrpc": "2.0", "error": error}] * len(REFUSED)


def test_b07_one_and_the_text_one_stay_apart(server: Any, byte_server: Any) -> None:
    facts = server()
    targets = [byte_server([["read", b"HTTP/1.1 20%d OK\r\n\r\n" % digit, "eof"]]) for digit in (1, 2)]
    facts.initialize()
    facts.call(1, targets[0].url)
    facts.call("1", targets[1].url)

    statuses = [facts.content(id_)["data"]["http_status"] for id_ in (1, "1")]
    assert statuses == [201, 202]
