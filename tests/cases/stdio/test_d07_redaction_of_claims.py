"""D07 and D08 for claims over the wire: no secret of a claim is said, logged or stored, and nothing else is masked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CANARY = "Zq7CANARYx9Kd2Lm"
KEY = f"-----BEGIN PRIVATE KEY-----\nMIIEvQ{CANARY}\n-----END PRIVATE KEY-----\n"
HARMLESS = Path(__file__).parent.joinpath("harmless.txt").read_text("utf-8")
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n" + b'{"refresh_token":"%s","expires":3600}' % (
    CANARY.encode()
)


def everything(facts: Any) -> bytes:
    """All that the server said, logged and stored, its index included; in small letters, as an index keeps words."""
    data = facts.folder / "data"
    files = [path for path in data.rglob("*") if path.is_file() and path.parent.name != "keys"]
    assert {"claims.jsonl", "index.sqlite"} <= {path.name for path in files}
    stored = b"".join(path.read_bytes() for path in files)
    return bytes(facts.raw + facts.log().encode() + stored).lower()


def test_d07_a_cited_measurement_and_the_words_about_it_keep_no_secret(server: Any, byte_server: Any) -> None:
    target = byte_server([["read", RESPONSE, "eof"]])
    facts = server(PLINTH_FACTS_LOG_LEVEL="debug")
    facts.initialize()
    facts.call(1, f"{target.url}?api%5Fkey={CANARY}", headers={"Authorization": f"Bearer {CANARY}"})
    cited = {"type": "observation", "observation_id": facts.content(1)["observation_id"]}
    notes = [{"type": "note", "text": text} for text in (KEY, f"x-api-key: {CANARY}1|x-api-key: {CANARY}2")]
    said = f"{target.url}?token={CANARY} answers"
    facts.recall(2, "assert", statement=said, observed_by="anna", evidence=[cited, *notes])
    told = facts.content(2)
    facts.recall(3, "retract", claim_id=told["claim_id"], reason=f'it said {{"password":"{CANARY}"}}')
    gone = facts.content(3)
    facts.recall(4, "query", retracted="only", detail="full")
    facts.recall(5, "history", claim_id=told["claim_id"])
    facts.content(4)
    facts.content(5)
    facts.hang_up()

    assert facts.ended() == 0
    assert CANARY.lower().encode() not in everything(facts)
    assert CANARY.encode() in target.requests[0]
    assert [text.count("[redacted:") for text in (told["statement"], gone["reason"])] == [1, 1]
    assert sorted(told["remeasure_with"]["omitted"]) == ["/headers/Authorization", "/url"]


def test_d07_a_refused_claim_is_refused_without_its_secret(server: Any) -> None:
    facts = server(PLINTH_FACTS_LOG_LEVEL="debug")
    facts.initialize()
    facts.recall(0, "assert", statement="x answers", observed_by="anna")
    note = {"type": "note", "text": f"token={CANARY}", "password": CANARY}
    facts.recall(1, "assert", statement=f"token={CANARY}", observed_by="anna", evidence=[note])
    facts.recall(2, "assert", statement=f"token={CANARY}", pasword=CANARY)
    facts.recall(3, "query", text=f'"token={CANARY}', asserted_after=f"token={CANARY}")
    codes = [facts.content(id_).get("code") for id_ in (0, 1, 2, 3)]
    facts.recall(4, "history", claim_id=f"token={CANARY}")

    assert codes == [None, *["invalid_arguments"] * 3]
    assert facts.content(4)["code"] == "not_found"
    assert CANARY.lower().encode() not in everything(facts)


def test_d08_a_claim_that_is_no_secret_stays_byte_for_byte(server: Any) -> None:
    facts = server()
    facts.initialize()
    note = {"type": "note", "text": HARMLESS}
    facts.recall(1, "assert", statement=HARMLESS, observed_by="anna", evidence=[note])
    told = facts.content(1)
    facts.recall(2, "retract", claim_id=told["claim_id"], reason=HARMLESS)
    facts.content(2)
    facts.recall(3, "history", claim_id=told["claim_id"])
    first, second = (event["event"] for event in facts.content(3)["events"])

    assert (told["statement"], told["evidence"][0]["text"]) == (HARMLESS, HARMLESS)
    assert (first["statement"], first["evidence"][0]["text"], second["reason"]) == (HARMLESS,) * 3
    assert b"[redacted:" not in everything(facts)
