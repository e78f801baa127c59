"""D07 and D08 over HTTP: no secret of a call or an answer leaves the target's wire, and nothing else is masked."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

CANARY = "Zq7CANARYx9Kd2Lm"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJ{CANARY}.{CANARY}"
KEY = f"-----BEGIN PRIVATE KEY-----\nMIIEvQ{CANARY}\n-----END PRIVATE KEY-----\n"


def response(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    head = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def everything(facts: Any) -> str:
    """All that the server said, logged and stored."""
    logged: str = facts.log()
    files = [
        path for path in (facts.folder / "data").rglob("*") if path.is_file() and path.parent.name != "keys"
    ]
    stored = b"".join(path.read_bytes() for path in files)
    return bytes(facts.raw).decode() + logged + stored.decode("latin-1")  # hashes are bytes


def measured(server: Any, target: Any, path: str = "", **arguments: Any) -> tuple[Any, Any]:
    facts = server(PLINTH_FACTS_LOG_LEVEL="debug", PLINTH_FACTS_HTTP_METHODS="GET,POST")
    facts.initialize()
    facts.call(1, target.url + path, detail="full", **arguments)
    content = facts.content(1)
    facts.hang_up()
    assert facts.ended() == 0
    return facts, content


@pytest.mark.parametrize(
    "path",
    [
        f"?api%5Fkey={CANARY}",
        f"?API_KEY={CANARY}",
        f"?a=1;token={CANARY}",
        f"?state=x,token={CANARY}",
        f"#access_token={CANARY}",
    ],
)
def test_d07_a_secret_of_the_url_reaches_the_target_and_nobody_else(
    server: Any, byte_server: Any, path: str
) -> None:
    target = byte_server([["read", response(b"ok"), "eof"]])

    facts, content = measured(server, target, path)

    assert CANARY not in everything(facts)
    assert content["data"]["target"]["input"].startswith(target.url + path.partition("=")[0])
    assert (CANARY.encode() in target.requests[0]) is not path.startswith("#")


def test_d07_a_url_with_a_password_is_refused_without_quoting_it(server: Any, byte_server: Any) -> None:
    target = byte_server([["read", response(), "eof"]])
    facts = server()
    facts.initialize()

    facts.call(1, target.url.replace("//", f"//user:p@{CANARY}@"))

    assert facts.content(1)["reason_code"] == "userinfo_not_allowed"
    assert CANARY not in everything(facts)
    assert target.connections == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Basic " + base64.b64encode(f"user:{CANARY}".encode()).decode()},
        {"authorization": f"Bearer\t{CANARY}"},
        {"x-api-key": f"{CANARY}1", "X-API-KEY": f"{CANARY}2"},
        {"Cookie": f"sid={CANARY}; theme=dark"},
    ],
    ids=["basic", "bearer after a tab", "two keys", "cookie"],
)
def test_d07_a_secret_header_reaches_the_target_and_its_echo_is_masked(
    server: Any, byte_server: Any, headers: dict[str, str]
) -> None:
    echo = "you said " + " and ".join(headers.values())
    target = byte_server([["read", response(echo.encode(), "Content-Type: text/plain"), "eof"]])

    facts, content = measured(server, target, headers=headers)

    assert CANARY not in everything(facts)
    assert all(value.encode() in target.requests[0] for value in headers.values())
    assert content["data"]["body"].startswith("you said ")
    assert "[redacted:" in content["data"]["body"]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"refresh_token": CANARY}),
        json.dumps({"refresh_token": f"{CANARY}x"})[:-4],
        KEY,
        json.dumps({"pem": KEY}),
        f"x-api-key: {CANARY}1|x-api-key: {CANARY}2",
    ],
    ids=["JSON", "JSON that was cut", "a private key", "a private key in JSON", "joined headers"],
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/octet-stream"])
def test_d07_a_secret_of_the_answer_is_masked_whatever_its_type(
    server: Any, byte_server: Any, body: str, kind: str
) -> None:
    target = byte_server([["read", response(body.encode(), f"Content-Type: {kind}"), "eof"]])

    facts, content = measured(server, target)

    assert CANARY not in everything(facts)
    assert content["data"]["body_bytes"]["decoded"] == len(body)


def test_d07_tokens_in_headers_of_the_answer_are_masked_each(server: Any, byte_server: Any) -> None:
    headers = (f"Location: /next?t={JWT}", f"Set-Cookie: a={CANARY}; Path=/", f"Set-Cookie: b={CANARY}")
    target = byte_server([["read", response(b"", *headers, status="302 Found"), "eof"]])

    facts, content = measured(server, target)

    assert CANARY not in everything(facts)
    assert [name for name, _ in content["data"]["headers"]][:3] == ["Location", "Set-Cookie", "Set-Cookie"]
    assert "/next?t=[redacted:" in content["data"]["redirect"]["location"]


def test_d07_a_secret_of_a_sent_body_is_masked_where_it_is_stored(server: Any, byte_server: Any) -> None:
    target = byte_server([["read", response(b"ok"), "eof"]])

    facts, _ = measured(server, target, method="POST", body=f"user=x&password={CANARY}")

    assert CANARY not in everything(facts)
    assert facts.records()[0]["arguments"]["body"].startswith("user=x&password=[redacted:")


def test_d07_a_malformed_argument_is_refused_without_its_secret(server: Any) -> None:
    facts = server()
    facts.initialize()

    facts.call(1, "http://127.0.0.1/", headers={"Authorization": f"Bearer {CANARY}\n"}, pasword=CANARY)
    facts.call(2, "http://127.0.0.1/", headers={"Authorization": f"Bearer {CANARY}\n"})

    assert facts.content(1)["code"] == facts.content(2)["code"] == "invalid_arguments"
    assert CANARY not in everything(facts)


HARMLESS = Path(__file__).parent.joinpath("harmless.txt").read_text("utf-8")


def test_d08_evidence_that_is_no_secret_stays_byte_for_byte(server: Any, byte_server: Any) -> None:
    headers = ('WWW-Authenticate: Basic realm="x"', 'ETag: "686897696a7c876b7e"')
    policy = "Content-Security-Policy: script-src 'nonce-abc123def456ghi789'"
    answer = response(HARMLESS.encode(), *headers, policy, "Content-Type: text/plain; charset=utf-8")
    target = byte_server([["read", answer, "eof"]])

    facts, content = measured(server, target)

    assert content["data"]["body"] == HARMLESS
    assert [": ".join(pair) for pair in content["data"]["headers"]][:3] == [*headers, policy]
    assert "[redacted:" not in everything(facts)
