"""The log on stderr: one canonical line a call, written by a thread so that a full pipe holds up nothing."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal

LOGGER = "facts"
WAITING_AT_MOST = 10_000
FLUSH_SECONDS = 0.5

FIELDS: Mapping[str, str] = {
    "at": "when, UTC",
    "level": "debug, info, warning or error",
    "event": "what happened: start, call, damage, warning, failure",
    "tool": "canonical name of the tool",
    "outcome": "ok, not_ok (an observation that could not be taken), cancelled, or the code of the error",
    "ms": "duration of the call in milliseconds",
    "trace": "traceparent of the call, as the client sent it",
    "version": "of the server, at its start",
    "data": "the data directory, at the start",
    "policy": "the active policy at the start, or what is odd about it",
    "message": "free text for a person, without its secrets",
}


class StderrHandler(logging.Handler):
    """Hands formatted lines to one daemon thread; beyond the bound lines are dropped and counted."""

    def __init__(self, clean: Callable[[str], str], descriptor: int = 2) -> None:
        super().__init__()
        self._clean = clean
        self._descriptor = descriptor
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._dropped = 0
        self._busy = False
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        line = text if _is_plain(record) else self._clean(text)
        with self._changed:
            if len(self._waiting) >= WAITING_AT_MOST:
                self._dropped += 1
                return
            self._waiting.append(line)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="stderr", daemon=True)
            self._thread.start()

    def drain(self) -> None:
        """Wait until what is waiting is written, or until a reader that does not read has had its time."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._waiting or self._busy), FLUSH_SECONDS)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
                lines, self._waiting, self._busy = self._waiting, [], True
                dropped, self._dropped = self._dropped, 0
            if dropped:
                lines.append(f"facts-mcp: {dropped} lines of this log were dropped: stderr is not read")
            _put(self._descriptor, "".join(f"{line}\n" for line in lines))


class Text(logging.Formatter):
    """`2026-09-22T08:14:03.482Z info call tool=facts.measure.http outcome=ok ms=12.3`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = _fields(record, self)
        head = f"{fields.pop('at')} {fields.pop('level')} {fields.pop('event')}"
        return " ".join([head, *(f"{name}={_bare(value)}" for name, value in fields.items())])


class Json(logging.Formatter):
    """The same fields as one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(record, self))


def set_up(
    level: str, form: Literal["text", "json"], clean: Callable[[str], str], descriptor: int = 2
) -> StderrHandler:
    """Send every logger of this process to stderr; `clean` takes secrets out of free text.

    Returns the handler, which is to be drained at exit.
    """
    handler = StderrHandler(clean, descriptor)
    formatter = (Json if form == "json" else Text)(datefmt="%Y-%m-%dT%H:%M:%S")
    formatter.converter = _utc
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    return handler


def note(level: int, event: str, **fields: Any) -> None:
    """Write one line with the given fields, whose names are those of the table `FIELDS`."""
    logging.getLogger(LOGGER).log(level, event, extra={"facts": fields})


def _fields(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, Any]:
    facts = getattr(record, "facts", None)
    at = f"{formatter.formatTime(record, formatter.datefmt)}.{int(record.msecs):03d}Z"
    head = {"at": at, "level": record.levelname.lower()}
    if facts is None:
        return {**head, "event": "warning", "message": _whole(record, formatter)}
    return {**head, "event": record.getMessage(), **facts}


def _whole(record: logging.LogRecord, formatter: logging.Formatter) -> str:
    text = f"{record.name}: {record.getMessage()}"
    return f"{text}: {formatter.formatException(record.exc_info)}" if record.exc_info else text


def _is_plain(record: logging.LogRecord) -> bool:
    """Lines of fields alone hold names, codes and figures; a message is free text."""
    return "message" not in getattr(record, "facts", {"message": ""})


def _put(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except OSError:  # stderr is closed: there is nowhere left to say so
            return


def _bare(value: Any) -> str:
    text = str(value)
    return text if text and not set(text) & set(" \"'=\n\r\t") else json.dumps(text)


def _utc(seconds: float | None) -> Any:
    import time

    return time.gmtime(seconds)
