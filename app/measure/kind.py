"""What a kind of measurement is: its parameters, its facts, its probe, and how it presents itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from app.clock import Clock


class MeasureParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of the parameters of every kind; subclasses add and describe the fields."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the operator allows a probe beside the policy."""

    max_redirects: int = 5
    http_methods: frozenset[str] = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One observation: `ok` says only that it could be taken; `data` holds everything that was seen."""

    ok: bool
    data: dict[str, Any]
    error: dict[str, Any] | None = None


Progress = Callable[[str], None]
"""Called with a short text each time a phase is done; never raises, never waits."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a probe works with; `dialer` is its only way to a socket, `deadline_ns` is monotonic."""

    dialer: Any
    clock: Clock
    deadline_ns: int
    limits: Limits = field(default_factory=Limits)
    progress: Progress = field(default=lambda _message: None)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of measurement, as one module of this package registers it under the name `KIND`.

    `plan` checks what can be judged before anything waits, the target included, and raises `ToolError`; `probe`
    measures what it made of the parameters.
    """

    name: str
    title: str
    description: str
    params: type[Any]
    facts: type[Struct]
    plan: Callable[[Any, Bench], Any]
    probe: Callable[[Any, Bench], Awaitable[Outcome]]
    brief: Callable[[Mapping[str, Any]], dict[str, Any]]
    read_only: bool
