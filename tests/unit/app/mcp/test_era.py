"""Which revision a request belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import RequestError
from app.mcp.era import is_stateless, meta_of, negotiate, revision_of, stateless_versions
from app.mcp.jsonrpc import Request
from app.mcp.revisions import load

P = "io.modelcontextprotocol/"
REVISIONS = load()
GOOD = {P + "protocolVersion": "2026-07-28", P + "clientCapabilities": {}}
NEEDED = f"params._meta must carry {P}protocolVersion and {P}clientCapabilities"

SERVED: dict[str, tuple[str, Any, str | None, str]] = {
    "a stateless request": ("tools/list", GOOD, None, "2026-07-28"),
    "a stateless request after a handshake": ("tools/list", GOOD, "2025-03-26", "2026-07-28"),
    "a request after a handshake": ("tools/list", {}, "2025-03-26", "2025-03-26"),
    "an opening": ("initialize", {}, None, "2025-11-25"),
    "a ping before anything": ("ping", {}, None, "2025-11-25"),
    "odd meta after a handshake": ("ping", 5, "2024-11-05", "2024-11-05"),
    "a level of logging": ("tools/list", {**GOOD, P + "logLevel": "debug"}, None, "2026-07-28"),
    "an odd name of the client": ("tools/list", {**GOOD, P + "clientInfo": 5}, None, "2026-07-28"),
}
REFUSED: dict[str, tuple[str, Any, str | None, int, str]] = {
    "nothing says the revision": ("tools/list", {}, None, -32602, NEEDED),
    "meta is no object": ("tools/list", "x", None, -32602, NEEDED),
    "no version": (
        "tools/list",
        {P + "clientCapabilities": {}},
        None,
        -32602,
        f"params._meta must carry {P}protocolVersion as a string",
    ),
    "a version that is a number": (
        "tools/list",
        {**GOOD, P + "protocolVersion": 5},
        None,
        -32602,
        f"params._meta must carry {P}protocolVersion as a string",
    ),
    "no capabilities": (
        "tools/list",
        {P + "protocolVersion": "2026-07-28"},
        None,
        -32602,
        f"params._meta must carry {P}clientCapabilities as an object",
    ),
    "an unknown level": (
        "tools/list",
        {**GOOD, P + "logLevel": "loud"},
        None,
        -32602,
        f"{P}logLevel must be one of the eight syslog levels",
    ),
    "a level that is no text": (
        "tools/list",
        {**GOOD, P + "logLevel": []},
        None,
        -32602,
        f"{P}logLevel must be one of the eight syslog levels",
    ),
    "a stateless ping": ("ping", GOOD, None, -32601, "Method not found"),
    "a stateless opening": ("initialize", GOOD, None, -32601, "Method not found"),
    "a setting of the level": ("logging/setLevel", GOOD, None, -32601, "Method not found"),
    "a probe after a handshake without meta": (
        "server/discover",
        {},
        "2025-11-25",
        -32601,
        "Method not found",
    ),
    "prompts after a handshake": ("prompts/list", {}, "2025-11-25", -32601, "Method not found"),
}


@pytest.mark.parametrize(("method", "meta", "negotiated", "expected"), SERVED.values(), ids=SERVED)
def test_a_request_finds_its_revision(method: str, meta: Any, negotiated: str | None, expected: str) -> None:
    before = None if negotiated is None else REVISIONS[negotiated]
    revision = revision_of(Request(1, method, {"_meta": meta}), before, REVISIONS)

    assert revision.version == expected


@pytest.mark.parametrize(("method", "meta", "negotiated", "code", "message"), REFUSED.values(), ids=REFUSED)
def test_a_request_without_revision_is_refused(
    method: str, meta: Any, negotiated: str | None, code: int, message: str
) -> None:
    before = None if negotiated is None else REVISIONS[negotiated]

    with pytest.raises(RequestError) as refused:
        revision_of(Request(1, method, {"_meta": meta}), before, REVISIONS)

    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize("version", ["2027-01-15", "2025-11-25", ""])
def test_an_unserved_version_is_told_what_is_served(version: str) -> None:
    meta = {**GOOD, P + "protocolVersion": version}

    with pytest.raises(RequestError) as refused:
        revision_of(Request(1, "tools/list", {"_meta": meta}), None, REVISIONS)

    assert refused.value.code == -32022
    assert refused.value.data == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.parametrize("wanted", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_served_version_is_agreed_to(wanted: str) -> None:
    assert negotiate(wanted, REVISIONS).version == wanted


@pytest.mark.parametrize("wanted", ["2099-01-01", "2026-07-28", "", None, 5, [], {}])
def test_any_other_wish_gets_the_newest_with_a_handshake(wanted: Any) -> None:
    assert negotiate(wanted, REVISIONS).version == "2025-11-25"


def test_only_stateless_versions_are_announced() -> None:
    assert stateless_versions(REVISIONS) == ["2026-07-28"]


@pytest.mark.parametrize("key", [P + "protocolVersion", P + "clientCapabilities"])
def test_one_key_of_the_stateless_era_is_enough_to_belong_to_it(key: str) -> None:
    assert is_stateless(Request(1, "m", {"_meta": {key: None}}))


def test_a_progress_token_alone_is_no_sign_of_an_era() -> None:
    request = Request(1, "m", {"_meta": {"progressToken": 1}})

    assert not is_stateless(request)
    assert meta_of(request) == {"progressToken": 1}
