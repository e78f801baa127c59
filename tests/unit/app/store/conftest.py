"""What the tests of the store share: a body, a way to append, and files as others left them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.records.codec import body, line
from app.records.events import Measured
from app.records.ulid import ulid_text
from app.store.file import FileLog
from app.store.log import LogName, Stored

Outcome = Stored | BaseException


@pytest.fixture
def measured() -> bytes:
    """A body with text beyond ASCII in it."""
    return body(Measured("facts.measure.tcp", {"target": "ü"}, "2026-09-22T08:14:03.000000Z", {}, True, None))


@pytest.fixture
def append(measured: bytes) -> Callable[..., list[Outcome]]:
    """`append(log, count, project=, log_name=)`: that many appends at once, their outcomes in order."""

    def call(
        log: FileLog, count: int = 1, project: str = "p", log_name: LogName = "observations"
    ) -> list[Outcome]:
        async def together() -> list[Outcome]:
            calls = [log.append(project, log_name, log_name[0], measured) for _ in range(count)]
            return await asyncio.gather(*calls, return_exceptions=True)

        return asyncio.run(together())

    return call


@pytest.fixture
def lines(measured: bytes) -> Callable[[Sequence[int]], bytes]:
    """`lines([1, 2])`: good lines with these numbers as `seq` and as ULID."""

    def make(numbers: Sequence[int]) -> bytes:
        return b"".join(
            line(number, f"o_{ulid_text(number)}", "2026-09-22T08:14:03.000000Z", measured)
            for number in numbers
        )

    return make


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Path]:
    """`place(content, log_name=)`: the path of a log of project `p` with this content."""

    def put(content: bytes | None = None, log_name: LogName = "observations") -> Path:
        path = tmp_path / "projects" / "p" / "logs" / f"{log_name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content)
        return path

    return put
