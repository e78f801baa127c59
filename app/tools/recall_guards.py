"""The last word on a claim and on a retraction, given while nobody else can append: nothing is said twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.errors import ToolError
from app.recall.answer import View, taken_back
from app.recall.projection import hash64
from app.records.codec import storable
from app.records.events import Asserted, Retracted
from app.tools.aside import aside

if TYPE_CHECKING:
    from app.store.index import ClaimIndex
    from app.store.log import Stored
    from app.store.registry import Registry

PATIENCE_SECONDS: Final = 10.0
"""How long a call waits for an index that is being built before it says so."""


class NotTwice:
    """An assert: one equal in every stored field answers for it, and a key belongs to one content."""

    def __init__(self, registry: Registry, project: str, event: Asserted, line: bytes) -> None:
        self._registry = registry
        self._project = project
        self._event = event
        self._tail = storable(line)[:-1]
        key = event.idempotency_key
        self.keys = frozenset([self._tail] if key is None else [self._tail, b"key:" + key.encode()])

    def decide(self) -> Stored | None:
        """The claim that stands already, or None."""
        with self._registry.using(self._project) as index:
            _follow(index)
        same = self._registry.same(self._project, self._event, hash64(self._tail), self._tail)
        if same is None and self._event.idempotency_key is not None:
            self._check_key(self._event.idempotency_key)
        return same

    def _check_key(self, key: str) -> None:
        for record in self._registry.with_key(self._project, key, hash64(key.encode())):
            if record.event != self._event:
                raise ToolError(
                    "conflict",
                    f"idempotency_key: it was used for other content, {record.id}.",
                    field="idempotency_key",
                    reason_code="idempotency_key_reused",
                    details={"claim_id": record.id},
                )


class StillStands:
    """A retraction: of a claim that exists and was not taken back."""

    def __init__(self, registry: Registry, project: str, claim_id: str, view: Callable[[], View]) -> None:
        self._registry = registry
        self._project = project
        self._claim_id = claim_id
        self._view = view
        self.keys = frozenset([b"claim:" + claim_id.encode("utf-8", "surrogatepass")])

    def decide(self) -> None:
        """Nothing to say, or a `ToolError`."""
        with self._registry.using(self._project) as index:
            _follow(index)
        found = self._registry.claim(self._project, self._claim_id)
        if found is None:
            raise ToolError(
                "not_found", f"Project {self._project} has no claim with this id.", field="claim_id"
            )
        first = found.retraction
        if first is not None and isinstance(first.event, Retracted):
            raise ToolError(
                "conflict",
                "The claim has been taken back already; details has the retraction.",
                field="claim_id",
                reason_code="already_retracted",
                details={"retraction": taken_back(first.id, first.at, first.event, self._view())},
            )


async def wait_for_index(index: ClaimIndex) -> None:
    """Return when the index is current; `ToolError("busy")` when that takes too long."""
    if not index.is_ready():
        await aside(be_ready, index)


def be_ready(index: ClaimIndex) -> None:
    """The same on a thread that may wait."""
    if not index.catch_up().is_current:
        index.wait(PATIENCE_SECONDS)
        _follow(index)


def _follow(index: ClaimIndex) -> None:
    state = index.catch_up()
    if not state.is_current:
        raise ToolError(
            "busy",
            f"The index is being built: {state.position} of {state.of} bytes.",
            reason_code="index_building",
            retry_after_seconds=PATIENCE_SECONDS,
        )
