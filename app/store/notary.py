"""Decides when a log is signed: every thousand lines, every ten minutes with news, and when the server ends.

It has a thread of its own, which begins with the first line that is written. It never keeps an append waiting: what
cannot be signed is reported, and tried again with the next line.
"""

from __future__ import annotations

import threading
from typing import Final

from app.clock import Clock
from app.errors import FactsError
from app.records.events import SignedLog
from app.store.log import Damage, LogName
from app.store.signer import Append, Signer
from app.store.suspect import Report

LINES: Final = 1000
SECONDS: Final = 600.0

_Key = tuple[str, SignedLog]


class Notary:
    """Told of written lines by the writer; `to` is the log that checkpoints are appended to."""

    def __init__(self, signer: Signer, to: Append, clock: Clock, report: Report) -> None:
        self._signer = signer
        self._to = to
        self._clock = clock
        self._report = report
        self._changed = threading.Condition()
        self._lines: dict[_Key, int] = {}
        self._since: dict[_Key, int] = {}
        self._unsyncable: set[_Key] = set()
        self._closing = False
        self._thread: threading.Thread | None = None

    def wrote(self, project: str, log: LogName, lines: int, last: int) -> None:
        """Lines became durable, the last one with the number `last`; called on the writer's thread.

        Every thousandth line of a log is signed at once by the server that wrote it, however many write to the log.
        """
        if log == "checkpoints" or (project, log) in self._unsyncable:
            return
        key = (project, log)
        with self._changed:
            is_news = key not in self._lines
            is_thousandth = last // LINES > (last - lines) // LINES
            self._lines[key] = self._lines.get(key, 0) + (LINES if is_thousandth else lines)
            self._since.setdefault(key, self._clock.monotonic_ns())
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="notary", daemon=True)
                self._thread.start()
            elif is_news or self._lines[key] >= LINES:
                self._changed.notify()

    def could_not_sync(self, project: str, log: LogName) -> None:
        """Nobody knows what the device has of this log: it is not signed before the next start."""
        if log != "checkpoints":
            self._unsyncable.add((project, log))
            with self._changed:
                self._lines.pop((project, log), None)
                self._since.pop((project, log), None)

    def due(self, now_ns: int) -> list[_Key]:
        """The logs to sign now."""
        with self._changed:
            return [
                key
                for key, count in self._lines.items()
                if self._closing or count >= LINES or now_ns - self._since[key] >= SECONDS * 1e9
            ]

    def sign_due(self) -> None:
        """Sign what is due; a failure is reported, and the news stay news."""
        for key in self.due(self._clock.monotonic_ns()):
            with self._changed:
                del self._lines[key], self._since[key]
            try:
                self._signer.sign(*key, self._to)
            except (FactsError, OSError, ValueError) as error:
                project, log = key
                self._report(Damage(f"projects/{project}/logs/{log}.jsonl", 0, 0, "unsigned", str(error)))
                with self._changed:
                    self._lines.setdefault(key, 0)
                    self._since.setdefault(key, self._clock.monotonic_ns())

    def close(self, seconds: float | None = None) -> None:
        """Sign the news and end; call it before the log is closed. What is not signed in time is the next start's."""
        with self._changed:
            self._closing = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._closing and not self._is_due():
                    self._changed.wait(self._pause())
                closing = self._closing
            self.sign_due()
            if closing:
                return

    def _is_due(self) -> bool:
        return any(count >= LINES for count in self._lines.values())

    def _pause(self) -> float | None:
        """Until the oldest news have waited long enough; None: until somebody writes."""
        if not self._since:
            return None
        waited = (self._clock.monotonic_ns() - min(self._since.values())) / 1e9
        return max(0.0, SECONDS - waited)
