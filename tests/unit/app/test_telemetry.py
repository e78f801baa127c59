"""The log on stderr: its two forms, its fields, and that a reader who does not read holds up nothing."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from app.telemetry import FIELDS, WAITING_AT_MOST, StderrHandler, note, set_up


@pytest.fixture
def root_logger() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], level = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.fixture
def sink(tmp_path: Path, root_logger: None) -> Iterator[BinaryIO]:
    with (tmp_path / "stderr").open("w+b") as file:
        yield file


def written(handler: StderrHandler, sink: BinaryIO) -> str:
    handler.drain()
    sink.seek(0)
    return sink.read().decode()


def masked(text: str) -> str:
    return text.replace("hunter2", "***")


def test_a_line_of_text_has_time_level_event_and_fields(sink: BinaryIO) -> None:
    handler = set_up("info", "text", masked, sink.fileno())

    note(logging.INFO, "call", tool="facts.measure.http", outcome="ok", ms=1.5)

    at, rest = written(handler, sink).split(" ", 1)
    assert at.endswith("Z")
    assert rest == "info call tool=facts.measure.http outcome=ok ms=1.5\n"


def test_a_line_of_json_has_the_same_fields(sink: BinaryIO) -> None:
    handler = set_up("info", "json", masked, sink.fileno())

    note(logging.WARNING, "damage", message="two words")

    line = json.loads(written(handler, sink))
    assert set(line) <= set(FIELDS)
    assert (line["level"], line["event"], line["message"]) == ("warning", "damage", "two words")


def test_a_text_with_blanks_or_line_ends_stays_one_line(sink: BinaryIO) -> None:
    handler = set_up("info", "text", masked, sink.fileno())

    note(logging.INFO, "start", message="a\nb")

    assert written(handler, sink).endswith('info start message="a\\nb"\n')


def test_free_text_is_written_without_its_secrets(sink: BinaryIO) -> None:
    handler = set_up("info", "text", masked, sink.fileno())

    note(logging.ERROR, "failure", message="password hunter2")
    logging.getLogger("asyncio").error("also hunter2")

    assert "hunter2" not in written(handler, sink)


def test_an_exception_of_a_library_is_logged_with_its_trace(sink: BinaryIO) -> None:
    handler = set_up("info", "text", masked, sink.fileno())

    logging.getLogger("library").error("it failed", exc_info=ValueError("odd"))

    assert "library: it failed: ValueError: odd" in written(handler, sink)


def test_lines_below_the_level_are_not_written(sink: BinaryIO) -> None:
    handler = set_up("warning", "text", masked, sink.fileno())

    note(logging.INFO, "call", tool="t")

    assert written(handler, sink) == ""


def test_a_reader_who_does_not_read_loses_lines_but_holds_up_nothing(root_logger: None) -> None:
    reading, writing = os.pipe()
    handler = set_up("info", "text", masked, writing)

    for number in range(WAITING_AT_MOST * 2):
        note(logging.INFO, "call", message=f"{number} " + "x" * 100)
    os.set_blocking(reading, False)
    first = os.read(reading, 100)
    os.close(reading)

    assert b"info call message=" in first
    handler.drain()
    os.close(writing)


def test_dropped_lines_are_counted(root_logger: None, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    handler = set_up("info", "text", masked, writing)
    for _ in range(WAITING_AT_MOST * 3):
        note(logging.INFO, "call", message="x" * 100)

    received = b""
    while b"were dropped" not in received[-200:]:
        received += os.read(reading, 1 << 20)

    assert b"lines of this log were dropped" in received
    handler.drain()
    os.close(writing)
    os.close(reading)


def test_a_closed_stderr_is_no_fault(root_logger: None) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    handler = set_up("info", "text", masked, writing)

    note(logging.INFO, "call", tool="t")
    handler.drain()

    os.close(writing)
