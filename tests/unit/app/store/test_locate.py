"""A line is found by its id whatever stands between the lines, and with few reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.records.codec import MAX_LINE_BYTES
from app.records.ulid import ulid_text
from app.store.directory import DataDirectory
from app.store.files import Files
from app.store.locate import locate
from app.store.scripted import ScriptedFiles
from app.store.segments import open_segments

Lines = Callable[..., bytes]
Place = Callable[..., Path]


def found(path: Path, record_id: str, files: Files | None = None) -> tuple[int, bytes] | None:
    """What `locate` finds in the observations of project `p`."""
    device = files or Files()
    segments = open_segments(DataDirectory(str(path), device), device, "p", "observations")
    assert segments is not None
    try:
        return locate(segments, record_id)
    finally:
        segments.close()


def o(number: int) -> str:
    return f"o_{ulid_text(number)}"


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_every_line_is_found_where_it_stands(tmp_path: Path, place: Place, lines: Lines, count: int) -> None:
    numbers = range(2, 2 * count + 1, 2)
    place(lines(numbers))

    content = lines(numbers)
    there = [found(tmp_path, o(number)) for number in numbers]

    assert there == [(content.index(lines([number])), lines([number])[:-1]) for number in numbers]
    assert [found(tmp_path, o(number)) for number in range(1, 2 * count + 2, 2)] == [None] * (count + 1)


@pytest.mark.parametrize(
    "between",
    [b"\n", b"rubbish\n" * 3, b"x" * 20_000 + b"\n", b'{"v":1}\n' * 2000, b"\0" * 5000 + b"\n", b'{"v":2}\n'],
    ids=["blank", "rubbish", "long rubbish", "much rubbish", "nul bytes", "a later version without an id"],
)
def test_what_is_no_line_is_passed_over(tmp_path: Path, place: Place, lines: Lines, between: bytes) -> None:
    parts = [between, lines([1]), between, lines([2, 3]), between, lines([4]), between]
    content = b"".join(parts)
    place(content)

    there = [found(tmp_path, o(number)) for number in range(1, 5)]

    assert there == [(content.index(lines([number])), lines([number])[:-1]) for number in range(1, 5)]
    assert found(tmp_path, o(9)) is None


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, place: Place, lines: Lines) -> None:
    content = lines([1]) + b"x" * (MAX_LINE_BYTES + 1) + b"\n" + lines([2])
    place(content)

    assert [found(tmp_path, o(number)) for number in (1, 2, 3)] == [
        (0, lines([1])[:-1]),
        (len(content) - len(lines([2])), lines([2])[:-1]),
        None,
    ]


def test_a_last_line_without_a_line_feed_is_found(tmp_path: Path, place: Place, lines: Lines) -> None:
    place(lines([1, 2])[:-1])

    assert found(tmp_path, o(2)) == (len(lines([1])), lines([2])[:-1])


@pytest.mark.parametrize(
    "record_id",
    ["", "o", "o_", "o_x", ulid_text(1), f"c_{ulid_text(1)}", f"o-{ulid_text(1)}", f"o_{ulid_text(1)[:-1]}"],
)
def test_an_id_that_is_none_or_of_another_kind_is_not_found(
    tmp_path: Path, place: Place, lines: Lines, record_id: str
) -> None:
    place(lines([1]))

    assert found(tmp_path, record_id) is None


def test_few_reads_find_a_line_among_many(tmp_path: Path, place: Place, lines: Lines) -> None:
    place(lines(range(1, 20_001)))
    device = ScriptedFiles()

    there = found(tmp_path, o(12_345), device)

    assert there is not None
    assert device.calls["pread"] < 60
