"""What the tests of recall's tools share: a registry on a disk, two clocks that are steered, and calls by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.clock import SystemClock, utc_text
from app.errors import ToolError
from app.recall.age import Witness
from app.recall.projection import VERSION, row
from app.records.codec import body
from app.records.events import Measured
from app.redact import Redactor
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import Recipe
from app.store.log import Damage
from app.store.registry import Registry
from app.tools.recall import Archive, recall_tools
from app.tools.tool import Context, validate

SECOND = 1_000_000_000


class SteeredClock(SystemClock):
    """Two clocks that show what they are told to."""

    def __init__(self) -> None:
        self.wall = 1_772_359_200 * SECOND  # 2026-03-01T10:00:00Z
        self.boot = 100 * SECOND

    def wall_ns(self) -> int:
        return self.wall

    def boottime_ns(self) -> int:
        return self.boot

    def pass_by(self, seconds: float) -> None:
        """Both clocks go on."""
        self.wall += round(seconds * SECOND)
        self.boot += round(seconds * SECOND)

    def set_by(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        self.wall += round(seconds * SECOND)


class Desk:
    """A server on a data directory; `call` and `together` hold every answer against the published schema."""

    def __init__(self, path: Path, clock: SteeredClock, *, tokenizer: Any = "words") -> None:
        self.damage: list[Damage] = []
        files = Files()
        log = FileLog(str(path), clock)
        root = DataDirectory(str(path), files)
        recipe = Recipe(tokenizer, VERSION, row)
        registry = Registry(log, root, files, recipe, self.damage.append, lambda *_: None)
        self.archive = Archive(
            registry, clock, Redactor(b"k" * 32), Witness(), 3600, tokenizer, lambda name: f"as_{name}"
        )
        self.tools = {tool.name.rpartition(".")[2]: tool for tool in recall_tools(lambda: self.archive)}
        self._runner = asyncio.Runner()

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers, or the content of its refusal; the project is `p` unless another one is given."""
        return self.together(name, arguments)[0]

    def together(self, name: str, *calls: dict[str, Any]) -> list[dict[str, Any]]:
        """Several calls at once, their answers in order."""

        async def all_of_them() -> list[dict[str, Any]]:
            return await asyncio.gather(*(self._answer(name, {"project": "p"} | each) for each in calls))

        return self._runner.run(all_of_them())

    def observe(self, *, project: str = "p", observed_at: str | None = None, **members: Any) -> str:
        """The id of a stored measurement that others took, now unless said otherwise."""
        event = Measured(
            **{
                "tool": "facts.measure.http",
                "arguments": {"url": "http://127.0.0.1:8080/"},
                "observed_at": observed_at or utc_text(self.archive.clock.wall_ns()),
                "data": {"kind": "http", "target": {"host": "127.0.0.1", "port": 8080}},
                "ok": True,
                "error": None,
                **members,
            }
        )
        appended = self.archive.registry.log.append(project, "observations", "o", body(event))
        return self._runner.run(appended).id

    def close(self) -> None:
        self._runner.close()
        self.archive.registry.close()
        self.archive.registry.log.close()

    async def _answer(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        tool = self.tools[name]
        try:
            answer = await tool.run(
                validate(tool.params, arguments), arguments, Context(lambda _message: None)
            )
        except ToolError as error:
            answer = error.content()
        Draft202012Validator(tool.output_schema()).validate(answer)
        return answer


@pytest.fixture
def clock() -> SteeredClock:
    """`pass_by(seconds)` and `set_by(seconds)`; it begins at 2026-03-01T10:00:00Z."""
    return SteeredClock()


@pytest.fixture
def open_desk(tmp_path: Path, clock: SteeredClock) -> Iterator[Callable[..., Desk]]:
    """`open_desk(tokenizer=)`: one more server on the directory of the test."""
    desks: list[Desk] = []

    def make(**options: Any) -> Desk:
        desks.append(Desk(tmp_path, clock, **options))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    """`call(name, **arguments)`, `together(name, *arguments)`, `observe(…)` and the `archive` behind them."""
    return open_desk()
