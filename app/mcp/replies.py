"""How the answer to a request leaves: alone in its line, or together with the others of its array."""

from __future__ import annotations

from typing import Protocol

from app.mcp.events import Event, Held, Send


class Reply(Protocol):
    """Takes the one answer of a request, or the news that there will be none."""

    def add(self, line: bytes, code: int | None = None) -> list[Event]:
        """The answer; not empty, so that the caller sees that it was taken."""
        ...

    def drop(self) -> list[Event]:
        """There will be no answer."""
        ...


class Alone:
    """Each answer is a line."""

    def add(self, line: bytes, code: int | None = None) -> list[Event]:
        return [Send(line, code)]

    def drop(self) -> list[Event]:
        return []


class Together:
    """One line for an array, as soon as each of its requests is answered or cancelled; never an empty array."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._lines: list[bytes] = []

    def add(self, line: bytes, code: int | None = None) -> list[Event]:  # noqa: ARG002 - an array has no one code
        self._lines.append(line)
        return self._whole() or [Held()]

    def drop(self) -> list[Event]:
        self._expected -= 1
        return self._whole()

    def _whole(self) -> list[Event]:
        if not self._lines or len(self._lines) < self._expected:
            return []
        return [Send(b"[" + b",".join(self._lines) + b"]")]
