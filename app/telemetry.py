"""The log on stderr: one canonical line a call, written by a thread so that a full pipe holds up nothing."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["text", "json"]

LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
WAITING_AT_MOST: Final = 10_000
FLUSH_SECONDS: Final = 0.5
_BARE: Final = re.compile(r"[!#-&(-<>-~]+")

FIELDS: Final[Mapping[str, str]] = {
    "at": "when, UTC",
    "level": "debug, info, warning or error",
    "event": "what happened: start, call, damage, index (a part of an index was built), listening, "
    "masks_not_kept (they will differ after a restart), warning, failure",
    "tool": "canonical name of the tool",
    "outcome": "ok, not_ok (an observation that could not be taken), cancelled, or the code of the error",
    "ms": "duration of the call in milliseconds",
    "trace": "traceparent of the call, as the client sent it",
    "version": "of the server, at its start",
    "data": "the data directory, at the start",
    "policy": "the active policy at the start, or what is odd about it",
    "project": "whose index is built",
    "position": "how many bytes of the log it covers",
    "of": "how many there are",
    "address": "where HTTP is served",
    "reason": "why nothing can be kept in the data directory",
    "message": "free text for a person, without its secrets",
}


class Journal:
    """Lines of fields for stderr; `now` gives the time of a line, `clean` takes the secrets out of free text.

    The lines are made here and not by `logging`, which takes longer for one than a refused call takes as a whole.
    """

    def __init__(
        self,
        now: Callable[[], str],
        clean: Callable[[str], str],
        level: Level,
        form: Form,
        descriptor: int = 2,
    ) -> None:
        self._now = now
        self._clean = clean
        self._least = LEVELS[level]
        self._line = _json_line if form == "json" else _text_line
        self._writer = _Writer(descriptor)

    def note(self, level: Level, event: str, **fields: Any) -> None:
        """Write one line with these fields, whose names are those of the table `FIELDS`."""
        if LEVELS[level] < self._least:
            return
        if "message" in fields:
            fields["message"] = self._clean(fields["message"])
        self._writer.put(self._line({"at": self._now(), "level": level, "event": event}, fields))

    def adopt_logging(self) -> None:
        """Write what libraries log, and warnings of Python, here as well."""
        logging.basicConfig(level=self._least, handlers=[_Foreign(self)], force=True)
        logging.captureWarnings(capture=True)

    def drain(self) -> None:
        """Wait until what is waiting is written, or until a reader that does not read has had its time."""
        self._writer.drain()


class _Foreign(logging.Handler):
    """Records of other people's loggers as lines of the journal."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.name}: {record.getMessage()}"
        if record.exc_info:
            text += f": {logging.Formatter().formatException(record.exc_info)}"
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        self._journal.note(level if record.levelno >= logging.WARNING else "debug", "warning", message=text)


class _Writer:
    """Hands lines to one daemon thread; beyond the bound they are dropped and counted."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._dropped = 0
        self._busy = False
        self._thread: threading.Thread | None = None

    def put(self, line: str) -> None:
        with self._changed:
            if len(self._waiting) >= WAITING_AT_MOST:
                self._dropped += 1
                return
            self._waiting.append(line)
            if not self._busy:
                self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="stderr", daemon=True)
            self._thread.start()

    def drain(self) -> None:
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


def _text_line(head: Mapping[str, str], fields: Mapping[str, Any]) -> str:
    """`2026-09-22T08:14:03.482119Z info call tool=facts.measure.http outcome=ok ms=12.3`."""
    return " ".join([*head.values(), *(f"{name}={_bare(str(value))}" for name, value in fields.items())])


def _json_line(head: Mapping[str, str], fields: Mapping[str, Any]) -> str:
    return json.dumps({**head, **fields})


def _bare(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text)


def _put(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except OSError:  # stderr is closed: there is nowhere left to say so
            return
