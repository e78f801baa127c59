"""The measuring tools: probe, redact, write, answer, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from app.clock import SystemClock
from app.errors import ToolError
from app.measure.kind import Bench, Kind, Limits, MeasureParams, Outcome
from app.recall.age import Moment, Witness
from app.records.codec import Record
from app.records.events import Measured
from app.redact import Redactor
from app.store.file import FileLog
from app.tools.measure import Laboratory, measuring_tools
from app.tools.tool import Context, Tool

CONTEXT = Context(lambda _message: None)


class Params(MeasureParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    project: str = "Default"
    timeout_ms: int = 1000
    detail: str = "brief"


class Facts(msgspec.Struct):
    kind: str


class Open:
    """A gate that is always open."""

    @asynccontextmanager
    async def slot(self, _deadline_ns: int) -> AsyncIterator[None]:
        yield


def plan(params: Params, _bench: Bench) -> Params:
    if params.project == "refused":
        raise ToolError("policy_denied", "no")
    return params


async def see(_params: Params, bench: Bench) -> Outcome:
    bench.progress("seen")
    return Outcome(ok=False, data={"kind": "try", "extra": 1}, error={"code": "refused", "phase": "connect"})


def brief(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": data["kind"]}


def tool_on(directory: Path, probe: Any = see, witness: Witness | None = None) -> tuple[Tool, FileLog]:
    kind = Kind("try", "Try", "Tries.", Params, Facts, plan, probe, brief, read_only=True)
    log = FileLog(str(directory), SystemClock())
    saw = witness or Witness()
    laboratory = Laboratory(Open(), SystemClock(), Redactor(b"k" * 32), log, Limits(), saw)
    (tool,) = measuring_tools((kind,), lambda: laboratory, "Profile loopback.")
    return tool, log


def measure(directory: Path, probe: Any = see, **arguments: Any) -> dict[str, Any]:
    tool, log = tool_on(directory, probe)
    try:
        return asyncio.run(run(tool, arguments))
    finally:
        log.close()


async def run(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    return await tool.run(Params(**arguments), arguments, CONTEXT)


def lines(directory: Path, project: str) -> list[Record]:
    found = list(FileLog(str(directory), SystemClock()).read(project, "observations"))
    return [line.record for line in found if hasattr(line, "record") and isinstance(line.record, Record)]


def test_an_observation_that_failed_is_stored_before_it_is_answered(tmp_path: Path) -> None:
    answer = measure(tmp_path, project="Check Out")

    (line,) = lines(tmp_path, "check-out")
    assert (answer["stored"], answer["ok"], answer["observation_id"]) == (True, False, line.id)
    assert answer["error"] == {"code": "refused", "phase": "connect"}
    assert isinstance(line.event, Measured)
    assert line.event.data == {"kind": "try", "extra": 1}


def test_what_the_plan_refuses_waits_for_no_room_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no"):
        measure(tmp_path, project="refused")

    assert list(tmp_path.iterdir()) == []


def test_brief_is_answered_and_the_whole_is_stored(tmp_path: Path) -> None:
    assert measure(tmp_path)["data"] == {"kind": "try"}
    assert measure(tmp_path, detail="full")["data"] == {"kind": "try", "extra": 1}


def test_the_age_is_that_of_the_monotonic_clock_and_never_negative(tmp_path: Path) -> None:
    answer = measure(tmp_path)

    assert answer["age_basis"] == "monotonic"
    assert 0 <= answer["age_seconds"] < 60


def test_what_this_process_measured_is_aged_by_the_clock_since_boot_afterwards(tmp_path: Path) -> None:
    witness = Witness()
    tool, log = tool_on(tmp_path, witness=witness)
    stored = asyncio.run(run(tool, {}))["observation_id"]
    log.close()

    ages = [witness.age(each, 0, Moment(0, 10**30)) for each in (stored, "o_another")]

    assert [age["age_basis"] for age in ages] == ["monotonic", "wall_clock"]


def test_a_name_of_a_project_that_cannot_be_one_is_an_argument_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as refused:
        measure(tmp_path, project="..")

    assert (refused.value.code, refused.value.field) == ("invalid_arguments", "project")


def test_measuring_goes_on_where_nothing_can_be_stored_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "projects").symlink_to(tmp_path)

    answer = measure(tmp_path)

    assert (answer["stored"], answer["observation_id"]) == (False, None)
    assert (answer["not_stored"]["code"], answer["not_stored"]["reason"]) == ("storage_failed", "symlink")
    assert answer["data"] == {"kind": "try"}


def test_an_observation_that_fits_no_line_is_answered_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.records.codec.MAX_LINE_BYTES", 1000)

    async def vast(_params: Params, _bench: Bench) -> Outcome:
        return Outcome(ok=True, data={"kind": "x" * 1000})

    answer = measure(tmp_path, vast)

    assert (answer["stored"], answer["not_stored"]["reason"]) == (False, "too_large")


def test_a_measurement_that_is_cancelled_while_it_is_written_is_kept(tmp_path: Path) -> None:
    tool, log = tool_on(tmp_path)

    async def go() -> dict[str, Any]:
        task = asyncio.ensure_future(run(tool, {}))
        while not (tmp_path / "projects").exists():
            await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(go())["stored"] is True
    log.close()
    assert len(lines(tmp_path, "default")) == 1


def test_a_large_body_is_searched_beside_the_loop(tmp_path: Path) -> None:
    async def see_much(_params: Params, _bench: Bench) -> Outcome:
        return Outcome(ok=True, data={"kind": "try", "body": "password=hunter2hunter2&" * 2000})

    answer = measure(tmp_path, see_much, detail="full")

    assert "hunter2" not in answer["data"]["body"]
    assert answer["stored"] is True


def test_an_answer_is_valid_for_the_published_schema(tmp_path: Path) -> None:
    tool, log = tool_on(tmp_path)
    log.close()

    Draft202012Validator(tool.output_schema()).validate(measure(tmp_path, detail="full"))


def test_the_description_states_the_profile_and_the_annotations_are_plain(tmp_path: Path) -> None:
    tool, log = tool_on(tmp_path)
    log.close()

    assert tool.description == "Tries. Profile loopback."
    assert tool.annotations == {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True}
