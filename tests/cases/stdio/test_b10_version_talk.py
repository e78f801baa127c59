"""B10: the talk about protocol versions."""

from __future__ import annotations

from typing import Any

SERVED = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ODD: list[Any] = ["2099-01-01", "9999-01-01", "", "2026-07-28", 5, None, [], {}]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def test_b10_a_served_version_is_agreed_to(server: Any) -> None:
    facts = server()
    for version in SERVED:
        facts.ask(version, "initialize", protocolVersion=version)

    assert [facts.answer(version)["result"]["protocolVersion"] for version in SERVED] == SERVED


def test_b10_any_other_version_is_answered_with_the_newest_that_has_a_handshake(server: Any) -> None:
    facts = server()
    for index, version in enumerate(ODD):
        facts.ask(index, "initialize", protocolVersion=version)
    facts.ask("missing", "initialize")
    facts.say({"jsonrpc": "2.0", "id": "bare", "method": "initialize"})

    versions = [answer["result"]["protocolVersion"] for answer in facts.lines(len(ODD) + 2)]
    assert versions == ["2025-11-25"] * (len(ODD) + 2)


def test_b10_unknown_capabilities_and_members_are_ignored(server: Any) -> None:
    facts = server()
    strange = {"sampling": {}, "com.example/x": {"a": [1]}, "roots": 5}
    facts.ask(1, "initialize", protocolVersion="2025-06-18", capabilities=strange, clientInfo=5, extra={})

    assert facts.answer(1)["result"]["protocolVersion"] == "2025-06-18"


def test_b10_a_call_before_the_handshake_is_one_error(server: Any) -> None:
    facts = server()
    facts.call(1, "http://127.0.0.1:1/")
    facts.ping("end")

    assert [answer["error"]["code"] for answer in facts.answers(1)] == [-32602]


def test_b10_a_second_handshake_loses_nothing(server: Any, byte_server: Any) -> None:
    facts, target = (
        server(),
        byte_server([["read", ("wait", 0.3), b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]]),
    )
    facts.initialize()
    facts.call(1, target.url)
    facts.ask("again", "initialize", protocolVersion="2025-11-25")

    assert facts.answer("again")["result"]["protocolVersion"] == "2025-11-25"
    assert facts.content(1)["data"]["http_status"] == 204


def test_b10_a_probe_that_is_given_up_and_a_handshake_share_the_pipe(server: Any) -> None:
    facts = server()
    facts.ask("probe", "server/discover", _meta=META)
    facts.initialize()
    facts.ask("list", "tools/list")
    facts.ask("modern", "tools/list", _meta=META)

    assert facts.answer("probe")["result"]["supportedVersions"] == ["2026-07-28"]
    assert facts.answer("list")["result"]["tools"] == facts.answer("modern")["result"]["tools"]


def test_b10_a_stateless_version_that_is_not_served_is_told_which_are(server: Any) -> None:
    facts = server()
    facts.ask(1, "tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "9999-01-01"})

    assert facts.answer(1)["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": ["2026-07-28"], "requested": "9999-01-01"},
    }
