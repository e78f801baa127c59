"""The recall tools by hand: what is asked, what is printed, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import run

Recall = Callable[..., tuple[int, str, str]]


@pytest.fixture
def recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recall:
    """`recall("query", …)`: the exit status, what was printed, and what was said on stderr."""
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path))

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(["recall", *arguments])
        return status, *capsys.readouterr()

    return call


def answer(outcome: tuple[int, str, str]) -> Any:
    assert outcome[0] == 0
    return json.loads(outcome[1])


def test_a_claim_is_stored_and_shown(recall: Recall) -> None:
    status, out, _err = recall(
        *(
            "assert",
            "It listens.",
            "--observed-by",
            "alice",
            "--note",
            "seen",
            "--tag",
            "web",
            "--source",
            "wiki",
        )
    )

    lines = out.splitlines()
    assert (status, lines[0]) == (0, "stored")
    assert lines[1].startswith("c_")
    assert lines[2:] == [
        "  It listens.",
        "  by alice; source wiki; tags web",
        "  note        seen (0 s ago)",
    ]


def test_the_same_claim_is_there_already(recall: Recall) -> None:
    first = answer(recall("assert", "a", "--observed-by", "me", "--json"))
    second = recall("assert", "a", "--observed-by", "me")

    assert second[1].splitlines()[:2] == ["there already", second[1].splitlines()[1]]
    assert first["claim_id"] in second[1]


def test_claims_are_found_by_every_option(recall: Recall) -> None:
    claim = answer(recall("assert", "It listens on 80", "--observed-by", "me", "--tag", "web", "--json"))
    asked = [
        ["listens"],
        ["lis*", "--tag", "web"],
        ["--any-tag", "x", "--any-tag", "web"],
        ["--observed-by", "me", "--order", "oldest", "--limit", "1"],
        ["--after", "2020-01-01T00:00:00Z", "--before", "9000-01-01T00:00:00Z"],
        ["--stale", "no", "--stale-after", "60"],
        ["--retracted", "include", "--full"],
        ["--", "-nothing"],
    ]

    found = [answer(recall("query", "--json", *each)) for each in asked]
    assert [[each["claim_id"] for each in one["claims"]] for one in found] == [[claim["claim_id"]]] * len(
        asked
    )
    assert answer(recall("query", "--stale", "yes", "--json"))["matched"] == 0
    assert answer(recall("query", "--target", "127.0.0.1:80", "--json"))["matched"] == 0


def test_pages_lead_to_the_next_one(recall: Recall) -> None:
    for number in range(3):
        recall("assert", f"s{number}", "--observed-by", "me")
    status, out, _err = recall("query", "--limit", "2")
    cursor = out.splitlines()[-1].removeprefix("next page: --cursor ")
    last = answer(recall("query", "--limit", "2", "--cursor", cursor, "--json"))

    assert (status, out.splitlines()[-2]) == (0, "2 of 3 claims in project default")
    assert [each["statement"] for each in last["claims"]] == ["s0"]


def test_a_retraction_is_shown_with_its_claim(recall: Recall) -> None:
    claim_id = answer(recall("assert", "a", "--observed-by", "me", "--json"))["claim_id"]
    status, out, _err = recall("retract", claim_id, "--reason", "no", "--by", "bob")
    shown = recall("query", "--retracted", "only")[1]
    again = recall("retract", claim_id, "--reason", "no")

    assert status == 0
    assert out.startswith("r_")
    assert f"{claim_id} is taken back: no" in out
    assert "by bob: no" in next(line for line in shown.splitlines() if "RETRACTED" in line)
    assert (again[0], again[2]) == (
        1,
        "facts-mcp: conflict: The claim has been taken back already; details has the retraction.\n",
    )


def test_evidence_is_cited_by_its_id(recall: Recall) -> None:
    first = answer(recall("assert", "a", "--observed-by", "me", "--json"))["claim_id"]
    second = answer(recall("assert", "b", "--observed-by", "me", "--evidence", first, "--json"))
    missing = recall(
        *("assert", "c", "--observed-by", "me", "--evidence", "o_01K5Z9K2QX7T4BVWRM3P8QJHYD", "--json")
    )

    assert second["evidence"][0]["claim_id"] == first
    assert (missing[0], json.loads(missing[1])["code"]) == (1, "not_found")


def test_the_history_is_the_stored_lines(recall: Recall, tmp_path: Path) -> None:
    claim_id = answer(recall("assert", "a", "--observed-by", "me", "--json"))["claim_id"]
    status, out, _err = recall("history", claim_id)
    line = (tmp_path / "projects/default/logs/claims.jsonl").read_text().rstrip("\n")

    assert (status, out.splitlines()[1]) == (0, f"  {line}")
    assert out.startswith("byte 0, sha256 ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", '"open'], "invalid_arguments: text: a quotation mark has no partner"),
        (["query", "--limit", "0"], "invalid_arguments: limit: "),
        (["query", "--after", "yesterday"], "invalid_arguments: asserted_after: "),
        (["query", "--project", "a?b"], "invalid_arguments: project: "),
    ],
)
def test_bad_input_is_one_line_and_status_two(recall: Recall, arguments: list[str], said: str) -> None:
    status, out, err = recall(*arguments)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"facts-mcp: {said}")


def test_a_claim_that_is_not_there_is_status_one(recall: Recall) -> None:
    assert recall("history", "c_1")[0] == 1


def test_a_store_that_fails_is_said(recall: Recall, tmp_path: Path) -> None:
    (tmp_path / "projects").write_text("")
    status, _out, err = recall("assert", "a", "--observed-by", "me")

    assert status == 1
    assert err.startswith("facts-mcp: storage_failed: ")


def test_ages_are_said_in_units_that_fit(recall: Recall, tmp_path: Path) -> None:
    recall("assert", "a", "--observed-by", "me")
    path = tmp_path / "projects/default/logs/claims.jsonl"
    head, _, rest = path.read_text().partition('"at":"')
    path.write_text(f'{head}"at":"2020-01-01T00:00:00.000000{rest[26:]}')

    assert " d ago, stale)" in recall("query")[1].splitlines()[0]
