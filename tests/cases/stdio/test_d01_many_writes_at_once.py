"""D01: many writes at once: as many whole lines as acknowledgements, and a query sees what was acknowledged."""

from __future__ import annotations

from typing import Any

COUNT = 200
CYCLE = "a\u00e9\u20ac\U0001f600"  # ten bytes: characters of one, two, three and four


def text(number: int, cycles: int = 20_000) -> str:
    """From 10 bytes to 200 KB, of characters that a cut would break."""
    return CYCLE * int(cycles ** (number / (COUNT - 1)))


def write_all(facts: Any, cycles: int = 20_000) -> None:
    for number in range(COUNT):
        note = {"type": "note", "text": text(number, cycles)}
        facts.recall(
            number, "assert", statement=f"claim {number}", observed_by=CYCLE, tags=["all"], evidence=[note]
        )


def test_d01_two_hundred_claims_at_once_are_two_hundred_whole_lines(server: Any) -> None:
    facts = server()
    facts.initialize()
    write_all(facts)
    facts.hang_up()

    assert facts.ended() == 0
    lines = facts.records("claims")
    answered = {answer["result"]["structuredContent"]["claim_id"] for answer in facts.said()[1:]}
    assert len(text(0).encode()) == 10
    assert len(text(COUNT - 1).encode()) == 200_000
    assert [line["seq"] for line in lines] == list(range(1, COUNT + 1))
    assert [line["id"] for line in lines] == sorted(answered)
    assert {line["statement"]: line["evidence"] for line in lines} == {
        f"claim {number}": [{"type": "note", "text": text(number)}] for number in range(COUNT)
    }


def test_d01_queries_and_retractions_between_them_see_whatever_was_acknowledged(server: Any) -> None:
    facts = server()
    facts.initialize()
    write_all(facts, cycles=500)
    acknowledged = {}
    for number in range(0, COUNT, 20):
        claim_id = facts.content(number)["claim_id"]
        acknowledged[number] = sum(
            isinstance(answer["id"], int) and "result" in answer for answer in facts.said()
        )
        facts.recall(f"query {number}", "query", tags=["all"], retracted="include", limit=1)
        facts.recall(f"text {number}", "query", text=f'"claim {number}"', retracted="include", limit=1)
        facts.recall(f"retract {number}", "retract", claim_id=claim_id, reason=text(20))
    facts.lines(1 + COUNT + 3 * len(acknowledged))
    seen = {number: facts.content(f"query {number}")["matched"] for number in acknowledged}
    named = [facts.content(f"text {number}")["claims"][0]["statement"] for number in acknowledged]
    facts.recall("standing", "query", limit=1)

    assert all(seen[number] >= count > 0 for number, count in acknowledged.items())
    assert named == [f"claim {number}" for number in acknowledged]
    assert facts.content("standing")["matched"] == COUNT - len(acknowledged)
    lines = facts.records("claims")
    assert [line["seq"] for line in lines] == list(range(1, COUNT + len(acknowledged) + 1))
    assert [line["id"][2:] for line in lines] == sorted({line["id"][2:] for line in lines})
