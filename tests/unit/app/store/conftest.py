"""What the tests of the store share: a body, a way to append, and files as others left them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.recall.projection import row
from app.records.claims import Search
from app.records.codec import body, line
from app.records.events import Asserted, Measured, Retracted
from app.records.ulid import ulid_text
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import ClaimIndex, Recipe
from app.store.index_search import page
from app.store.log import Damage, LogName, Stored

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


@pytest.fixture
def claim() -> Callable[..., bytes]:
    """`claim(7, "words", tags=, at=, …)`: the line of a claim with this number as `seq` and as ULID."""

    def make(
        number: int, statement: str = "a claim", *, at: str = "2026-09-22T08:14:03.000000Z", **members: Any
    ) -> bytes:
        event = Asserted(
            **{"statement": statement, "evidence": [], "observed_by": "me", "tags": [], **members}
        )
        return line(number, f"c_{ulid_text(number)}", at, body(event))

    return make


@pytest.fixture
def retraction() -> Callable[[int, int], bytes]:
    """`retraction(8, 7)`: the line with number 8 that takes claim 7 back."""

    def make(number: int, of: int) -> bytes:
        event = Retracted(f"c_{ulid_text(of)}", "wrong", None)
        return line(number, f"r_{ulid_text(number)}", "2026-09-22T08:14:04.000000Z", body(event))

    return make


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Callable[..., ClaimIndex]]:
    """`open_index(files=, tokenizer=, version=, report=, progress=)`: project `p` of the test's directory."""
    opened: list[ClaimIndex] = []

    def make(
        *,
        files: Files | None = None,
        tokenizer: str = "words",
        version: str = "1",
        report: Callable[[Damage], None] = print,
        progress: Callable[[str, int, int], None] = print,
    ) -> ClaimIndex:
        device = files or Files()
        root = DataDirectory(str(tmp_path), device)
        opened.append(ClaimIndex("p", root, device, Recipe(tokenizer, version, row), report, progress))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def numbers() -> Callable[..., list[int]]:
    """`numbers(index, **search)`: the claims that are found, by their numbers, after catching up."""

    def find(index: ClaimIndex, **search: Any) -> list[int]:
        assert index.catch_up().is_current
        found = index.read(lambda connection: page(connection, Search(**search), None, 1000))
        return [int.from_bytes(hit.ulid, "big") for hit in found.hits]

    return find
