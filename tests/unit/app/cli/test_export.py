"""Logs written out: the very lines, or a table that no spreadsheet computes."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import run
from app.clock import SystemClock
from app.records.codec import body
from app.records.events import Asserted, Measured, Retracted
from app.store.file import FileLog

Export = Callable[..., tuple[int, str, str]]
TARGET = {"target": {"host": "::1", "port": 80}, "hops": [{"target": {"host": "a.test", "port": 81}}]}
FAILED = {"code": "refused", "phase": "connect", "message": "no"}


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A measurement, two claims of which one was taken back; the directory of the logs."""
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path))
    log = FileLog(str(tmp_path), SystemClock())

    async def write() -> None:
        event = Measured("t", {"url": "u"}, "2026-09-22T08:14:03.000000Z", TARGET, False, FAILED)
        seen = await log.append("default", "observations", "o", body(event))
        cited = [{"type": "observation", "observation_id": seen.id}, {"type": "note", "text": "ü"}]
        first = await log.append(
            "default", "claims", "c", body(Asserted("=1+1", cited, "@me", ["-a", "b"], source="wiki"))
        )
        await log.append("default", "claims", "c", body(Asserted("two\nlines", [], "me", [])))
        await log.append("default", "claims", "r", body(Retracted(first.id, "wrong", None)))

    asyncio.run(write())
    log.close()
    return tmp_path / "projects/default/logs"


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str]) -> Export:
    """`export(*arguments)`: the exit status, what was printed, and what was said on stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        return run(["export", *arguments]), *capsys.readouterr()

    return call


def test_the_lines_come_out_as_they_are_stored(logs: Path, export: Export) -> None:
    expected = (logs / "claims.jsonl").read_text()

    assert export() == export("--json") == (0, expected, "")
    assert export("--log", "observations")[1] == (logs / "observations.jsonl").read_text()


def test_claims_are_a_table_with_their_retractions(logs: Path, export: Export) -> None:
    status, out, _err = export("--format", "csv")
    header, first, second = csv.reader(io.StringIO(out))
    told = dict(zip(header, first, strict=True))

    assert status == 0
    assert (told["statement"], told["observed_by"], told["source"]) == ("'=1+1", "'@me", "wiki")
    assert (json.loads(told["tags"]), json.loads(told["evidence"])[1]) == (["-a", "b"], "ü")
    assert (told["reason"], told["retracted_at"] > told["asserted_at"]) == ("wrong", True)
    assert (second[2], second[-2:]) == ("two\nlines", ["", ""])


def test_observations_are_a_table_with_their_targets(logs: Path, export: Export) -> None:
    header, row = csv.reader(io.StringIO(export("--format", "csv", "--log", "observations")[1]))
    told = dict(zip(header, row, strict=True))

    assert (told["targets"], told["ok"], told["error_code"]) == ("[::1]:80 a.test:81", "False", "refused")
    assert (told["tool"], told["error_phase"], told["arguments"]) == ("t", "connect", '{"url": "u"}')


def test_a_file_is_new_and_for_its_owner_only(logs: Path, export: Export, tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    first = export("--output", str(file))
    second = export("--output", str(file))

    assert first == (0, "", "")
    assert file.read_bytes() == (logs / "claims.jsonl").read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (second[0], second[2]) == (2, f"facts-mcp: --output {file}: File exists\n")


def test_damaged_lines_are_left_out_and_counted(logs: Path, export: Export) -> None:
    with (logs / "claims.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    status, out, err = export()

    assert (status, out.count("\n")) == (1, 3)
    assert err == "facts-mcp: 1 damaged places were left out; facts-mcp doctor lists them\n"


def test_a_project_is_named_as_calls_name_it(logs: Path, export: Export) -> None:
    assert export("--project", " Default ") == export("--project", "default")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--project", "."], "'.' is not the name of a project: a project's name is neither . nor .."),
        (["--project", "nobody"], "there is no project nobody"),
        (
            ["--format", "csv", "--log", "checkpoints"],
            "--format csv: only claims and observations are tables",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_two(
    logs: Path, export: Export, arguments: list[str], said: str
) -> None:
    assert export(*arguments) == (2, "", f"facts-mcp: {said}\n")


def test_a_symbolic_link_is_not_followed(logs: Path, export: Export) -> None:
    (logs / "claims.jsonl").rename(logs / "elsewhere")
    (logs / "claims.jsonl").symlink_to(logs / "elsewhere")
    status, out, err = export()

    assert (status, out) == (2, "")
    assert "is a symbolic link" in err
