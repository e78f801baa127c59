"""The log on stderr: its two forms, its fields, and that a reader who does not read holds up nothing."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from app.telemetry import FIELDS, WAITING_AT_MOST, Form, Journal, Level

NOW = "2026-09-22T08:14:03.482119Z"


@pytest.fixture
def root_logger() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], level = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[BinaryIO]:
    with (tmp_path / "stderr").open("w+b") as file:
        yield file


def journal_on(descriptor: int, form: Form = "text", level: Level = "info") -> Journal:
    return Journal(lambda: NOW, lambda text: text.replace("hunter2", "***"), level, form, descriptor)


def written(journal: Journal, sink: BinaryIO) -> str:
    journal.drain()
    sink.seek(0)
    return sink.read().decode()


def test_a_line_of_text_has_time_level_event_and_fields(sink: BinaryIO) -> None:
    journal = journal_on(sink.fileno())

    journal.note("info", "call", tool="facts.measure.http", outcome="ok", ms=1.5)

    assert written(journal, sink) == f"{NOW} info call tool=facts.measure.http outcome=ok ms=1.5\n"


def test_a_line_of_json_has_the_same_fields(sink: BinaryIO) -> None:
    journal = journal_on(sink.fileno(), "json")

    journal.note("warning", "damage", message="two words")

    line = json.loads(written(journal, sink))
    assert set(line) <= set(FIELDS)
    assert (line["level"], line["event"], line["message"]) == ("warning", "damage", "two words")


@pytest.mark.parametrize("text", ["a\nb", "", "a b", "a=b", 'a"b', "a\u2028b"])
def test_a_text_with_blanks_or_line_ends_stays_one_line(sink: BinaryIO, text: str) -> None:
    journal = journal_on(sink.fileno())

    journal.note("info", "start", message=text)

    assert written(journal, sink).endswith(f"info start message={json.dumps(text)}\n")


def test_free_text_is_written_without_its_secrets(sink: BinaryIO, root_logger: None) -> None:
    journal = journal_on(sink.fileno())
    journal.adopt_logging()

    journal.note("error", "failure", message="password hunter2")
    logging.getLogger("asyncio").error("also hunter2")

    assert written(journal, sink).count("***") == 2
    assert "hunter2" not in written(journal, sink)


def test_what_libraries_log_is_written_with_its_trace(sink: BinaryIO, root_logger: None) -> None:
    journal = journal_on(sink.fileno(), level="debug")
    journal.adopt_logging()

    logging.getLogger("library").error("it failed", exc_info=ValueError("odd"))
    logging.getLogger("library").warning("careful")
    logging.getLogger("library").info("chatter")

    lines = written(journal, sink).splitlines()
    assert [line.split()[1] for line in lines] == ["error", "warning", "debug"]
    assert "library: it failed: ValueError: odd" in lines[0]


def test_a_warning_of_python_is_a_line_of_the_journal(sink: BinaryIO, root_logger: None) -> None:
    journal = journal_on(sink.fileno())
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        journal.adopt_logging()
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        logging.captureWarnings(capture=False)

    assert "DeprecationWarning: old" in written(journal, sink)


def test_lines_below_the_level_are_not_written(sink: BinaryIO) -> None:
    journal = journal_on(sink.fileno(), level="warning")

    journal.note("info", "call", tool="t")

    assert written(journal, sink) == ""


def test_a_reader_who_does_not_read_holds_up_nothing_and_lines_are_dropped_and_counted() -> None:
    reading, writing = os.pipe()
    journal = journal_on(writing)
    for _ in range(WAITING_AT_MOST * 3):
        journal.note("info", "call", message="x" * 100)

    received = b""
    while b"were dropped" not in received[-200:]:
        received += os.read(reading, 1 << 20)

    assert b"lines of this log were dropped" in received
    journal.drain()
    os.close(writing)
    os.close(reading)


def test_a_closed_stderr_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    journal = journal_on(writing)

    journal.note("info", "call", tool="t")
    journal.drain()
    journal.note("info", "call", tool="t")

    journal.drain()
    os.close(writing)
