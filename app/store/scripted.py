"""A file system that follows a script: the public test double, for what devices do once in a thousand days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from app.store.files import Files

Step = OSError | int | None
"""What the next call does: raise, take or answer this number, or (None) what the real one does."""


class ScriptedFiles(Files):
    """The real file system, except where the script of a method has a step left; `calls` counts them all.

    A number is how many bytes `write` takes, what `free_bytes` answers, and for the others that they do nothing.
    """

    def __init__(self, **script: Sequence[Step]) -> None:
        self.calls: Counter[str] = Counter()
        self._script = {name: list(steps) for name, steps in script.items()}

    def then(self, **script: Sequence[Step]) -> None:
        """Go on with these steps."""
        for name, steps in script.items():
            self._script[name] = list(steps)

    def write(self, descriptor: int, data: bytes) -> int:
        step = self._step("write")
        return super().write(descriptor, data if step is None else data[:step])

    def pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        return super().pwrite(descriptor, data, offset) if self._step("pwrite") is None else len(data)

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        step = self._step("pread")
        return super().pread(descriptor, size if step is None else step, offset)

    def fdatasync(self, descriptor: int) -> None:
        if self._step("fdatasync") is None:
            super().fdatasync(descriptor)

    def fsync(self, descriptor: int) -> None:
        if self._step("fsync") is None:
            super().fsync(descriptor)

    def open(self, path: str, flags: int, mode: int = 0o600, *, parent: int | None = None) -> int:
        self._step("open")
        return super().open(path, flags, mode, parent=parent)

    def lock(self, descriptor: int) -> None:
        if self._step("lock") is None:
            super().lock(descriptor)

    def unlock(self, descriptor: int) -> None:
        if self._step("unlock") is None:
            super().unlock(descriptor)

    def link(self, name: str, new_name: str, parent: int) -> None:
        if self._step("link") is None:
            super().link(name, new_name, parent)

    def is_mount(self, path: str) -> bool:
        step = self._step("is_mount")
        return super().is_mount(path) if step is None else bool(step)

    def free_bytes(self, descriptor: int) -> int:
        step = self._step("free_bytes")
        return super().free_bytes(descriptor) if step is None else step

    def _step(self, name: str) -> int | None:
        self.calls[name] += 1
        steps = self._script.get(name)
        step = steps.pop(0) if steps else None
        if isinstance(step, OSError):
            raise step
        return step
