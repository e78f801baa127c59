"""D03: a bad line between good ones costs itself alone: the good ones are served, and it is reported once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.records.codec import body, line
from app.records.events import Asserted
from app.records.ulid import ulid_text
from app.store.log import Damage

AT = "2026-09-22T08:14:03.000000Z"
FILE = "projects/p/logs/claims.jsonl"
FUTURE = b'{"v":9,"seq":2,"id":"c_%s","at":"%s","type":"weighed","grams":5}\n' % (
    ulid_text(2).encode(),
    AT.encode(),
)

BAD: dict[str, tuple[bytes, str]] = {
    "words": (b"garbage\n", "not_json"),
    "an empty object": (b"{}\n", "not_a_record"),
    "two objects in a line": (b'{"a":1}{"b":2}\n', "not_a_record"),
    "an empty line": (b"\n", "blank"),
    "a block of zeros after a crash": (b"\0" * 4096 + b"\n", "nul"),
    "half a character": (b'{"v":1,"statement":"\xe2\x82"}\n', "not_utf8"),
    "fifty megabytes": (b'{"v":1,"x":"' + b"x" * 50_000_000 + b'"}\n', "too_long"),
}


def claim(seq: int, said: str) -> bytes:
    return line(seq, f"c_{ulid_text(seq)}", AT, body(Asserted(said, [], "anna", [])))


def prepare(tmp_path: Path, content: bytes) -> Path:
    file = tmp_path / "data" / FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def statements(desk: Any, **asked: Any) -> list[str]:
    return [claim["statement"] for claim in desk.ask("query", order="oldest", **asked)["claims"]]


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD)
def test_d03_good_claims_are_served_around_a_bad_line_which_is_reported_once(
    tmp_path: Path, bad: bytes, reason: Any, clerk: Any
) -> None:
    file = prepare(tmp_path, claim(1, "one") + bad + claim(3, "three"))
    before = file.read_bytes()
    desk = clerk()
    desk.ask("query")
    desk.ask("assert", statement="four", observed_by="anna")

    assert statements(desk) == ["one", "three", "four"]
    assert statements(desk, text="t*") == ["three"]
    assert desk.reported == [Damage(FILE, len(claim(1, "one")), len(bad) - 1, reason)]
    assert file.read_bytes().startswith(before)


@pytest.mark.parametrize("bad", [bad for bad, _ in BAD.values()], ids=BAD)
def test_d03_history_and_retraction_work_behind_a_bad_line(tmp_path: Path, bad: bytes, clerk: Any) -> None:
    prepare(tmp_path, claim(1, "one") + bad + claim(3, "three"))
    desk, claim_id = clerk(), f"c_{ulid_text(3)}"
    desk.ask("retract", claim_id=claim_id, reason="it was two")
    events = desk.ask("history", claim_id=claim_id)["events"]

    assert events[0]["line"].encode() + b"\n" == claim(3, "three")
    assert [event["event"]["type"] for event in events] == ["asserted", "retracted"]
    assert statements(desk) == ["one"]


def test_d03_a_record_of_the_future_is_no_damage_and_stays_byte_for_byte(tmp_path: Path, clerk: Any) -> None:
    file = prepare(tmp_path, claim(1, "one") + FUTURE + claim(3, "three"))
    desk = clerk()
    desk.ask("assert", statement="four", observed_by="anna")

    assert statements(desk) == ["one", "three", "four"]
    assert desk.reported == []
    assert file.read_bytes().split(b"\n")[1] + b"\n" == FUTURE


def test_d03_line_ends_of_another_system_are_read(tmp_path: Path, clerk: Any) -> None:
    lines = [claim(1, "one"), claim(2, "two")]
    prepare(tmp_path, b"".join(lines).replace(b"\n", b"\r\n"))
    desk = clerk()
    desk.ask("assert", statement="three", observed_by="anna")

    assert statements(desk) == ["one", "two", "three"]
    assert desk.reported == []


def test_d03_a_byte_order_mark_costs_no_line_and_is_reported(tmp_path: Path, clerk: Any) -> None:
    first = b"\xef\xbb\xbf" + claim(1, "one")
    file = prepare(tmp_path, first + claim(2, "two"))
    desk = clerk()
    desk.ask("assert", statement="three", observed_by="anna")

    assert statements(desk) == ["one", "two", "three"]
    assert desk.reported == [Damage(FILE, 0, 3, "byte_order_mark")]
    assert file.read_bytes().startswith(first)


def test_d03_damage_that_came_under_a_running_server_is_served_around(tmp_path: Path, clerk: Any) -> None:
    file = prepare(tmp_path, claim(1, "one"))
    desk = clerk()
    before = statements(desk)
    with file.open("ab") as log:
        log.write(b"garbage\n" + claim(3, "three"))
    desk.ask("assert", statement="four", observed_by="anna")

    assert (before, statements(desk)) == (["one"], ["one", "three", "four"])
    assert [damage.reason for damage in desk.reported] == ["not_json"]


def test_d03_a_claim_that_was_overwritten_in_place_is_not_served(tmp_path: Path, clerk: Any) -> None:
    lines = [claim(seq, f"number {seq} " + "x" * 5000) for seq in (1, 2, 3)]
    file = prepare(tmp_path, b"".join(lines))
    first = clerk()
    before = len(statements(first))
    first.close()
    with file.open("r+b") as log:
        log.write(b"#" * 100)
    desk = clerk()

    assert (before, [said[:8] for said in statements(desk)]) == (3, ["number 2", "number 3"])
    assert [(each.file, each.offset) for each in desk.reported[:1]] == [(FILE, 0)]
