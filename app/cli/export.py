"""`facts-mcp export`: a log as the lines that are stored, or as a table for a spreadsheet."""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from app.cli.arguments import project_named
from app.cli.progress import Progress
from app.errors import StartError, StoreError
from app.recall.projection import targets
from app.records.codec import Record
from app.records.events import Asserted, Measured, Retracted
from app.store.directory import projects_of

if TYPE_CHECKING:
    from app.main import Application
    from app.store.log import Line

Build = Callable[[], "Application"]
Retractions = Mapping[str, tuple[str, str]]

LOGS: Final = ("claims", "observations", "documents", "checkpoints")
CLAIM_COLUMNS: Final = (
    *("claim_id", "asserted_at", "statement", "observed_by", "source", "tags"),
    *("evidence", "retracted_at", "reason"),
)
OBSERVATION_COLUMNS: Final = (
    *("observation_id", "observed_at", "tool", "targets", "ok", "error_code", "error_phase"),
    "arguments",
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def add_commands(commands: Any) -> None:
    """Put the command into the parser."""
    export = commands.add_parser("export", help="write a log out, as JSON lines or CSV")
    export.add_argument("--project", default="default", help="whose log (default: default)")
    export.add_argument("--log", choices=LOGS, default="claims", help="default: claims")
    export.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="default: jsonl")
    export.add_argument("--output", metavar="FILE", help="a new file; default: print")
    export.add_argument("--json", action="store_true", help="the same as --format jsonl")
    export.set_defaults(run=run_export)


def run_export(wanted: argparse.Namespace, build: Build) -> int:
    """`export`: 0 done; 1 done, and damaged lines were left out; 2 bad input."""
    is_csv = wanted.format == "csv" and not wanted.json
    if is_csv and wanted.log not in ("claims", "observations"):
        raise StartError("--format csv: only claims and observations are tables")
    application, project = build(), project_named(wanted.project)
    if project not in projects_of(application.settings.data_dir):
        raise StartError(f"there is no project {project}")
    try:
        with _output(wanted.output) as output:
            damaged = _export(application, project, wanted.log, output, is_csv=is_csv)
    except StoreError as error:
        raise StartError(error.message) from error
    finally:
        application.close()
    if damaged:
        sys.stderr.write(f"facts-mcp: {damaged} damaged places were left out; facts-mcp doctor lists them\n")
    return 1 if damaged else 0


def _export(application: Application, project: str, log: Any, output: IO[str], *, is_csv: bool) -> int:
    from app.store.log import Line

    damaged = 0

    def lines(progress: Progress) -> Iterator[Line]:
        nonlocal damaged
        for found in application.log.read(project, log):
            if isinstance(found, Line):
                progress.add(len(found.record.raw) + 1)
                yield found
            else:
                damaged += 1

    with Progress("exported", _size(application, project, log)) as progress:
        if is_csv and log == "claims":
            retractions = _retractions(application, project)
            _table(output, CLAIM_COLUMNS, _claim_rows(lines(progress), retractions))
        elif is_csv:
            _table(output, OBSERVATION_COLUMNS, _observation_rows(lines(progress)))
        else:
            output.writelines(line.record.raw.decode() + "\n" for line in lines(progress))
    return damaged


def _output(path: str | None) -> contextlib.AbstractContextManager[IO[str]]:
    """The file, which must not be there yet, readable by nobody else; or standard output."""
    if path is None:
        return contextlib.nullcontext(sys.stdout)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise StartError(f"--output {path}: {error.strerror}") from error
    return open(descriptor, "w", encoding="utf-8", newline="")


def _table(output: IO[str], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(tuple(_cell(value) for value in row) for row in rows)


def _cell(value: Any) -> str:
    """A spreadsheet would compute what begins like a formula: such a text gets an apostrophe before it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _claim_rows(lines: Iterable[Line], retractions: Retractions) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        record = line.record
        if isinstance(record, Record) and isinstance(record.event, Asserted):
            event = record.event
            cited = [
                item.get("observation_id") or item.get("claim_id") or item.get("text")
                for item in event.evidence
            ]
            told = (record.id, record.at, event.statement, event.observed_by, event.source)
            listed = (json.dumps(event.tags, ensure_ascii=False), json.dumps(cited, ensure_ascii=False))
            yield *told, *listed, *retractions.get(record.id, (None, None))


def _observation_rows(lines: Iterable[Line]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        record = line.record
        if isinstance(record, Record) and isinstance(record.event, Measured):
            event = record.event
            error = event.error or {}
            where = " ".join(targets({"data": event.data}))
            told = (
                record.id,
                event.observed_at,
                event.tool,
                where,
                event.ok,
                error.get("code"),
                error.get("phase"),
            )
            yield *told, json.dumps(event.arguments, ensure_ascii=False)


def _retractions(application: Application, project: str) -> Retractions:
    found: dict[str, tuple[str, str]] = {}
    for line in application.log.read(project, "claims"):
        record = getattr(line, "record", None)
        if isinstance(record, Record) and isinstance(record.event, Retracted):
            found.setdefault(record.event.claim_id, (record.at, record.event.reason))
    return found


def _size(application: Application, project: str, log: str) -> int:
    directory = os.path.join(application.settings.data_dir, "projects", project, "logs")
    try:
        with os.scandir(directory) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.name.startswith(log))
    except FileNotFoundError:
        return 0
