"""Outcomes go back to the loops that wait for them, one wake-up a loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from app.errors import StoreError, ToolError
from app.store.log import Stored
from app.store.pending import Pending, fail, refuse, settle

STORED = Stored(1, "o_x", "now", "observations", 0)


def pending(loop: asyncio.AbstractEventLoop) -> Pending:
    return Pending("p", "observations", "o", b"", loop)


def test_outcomes_reach_those_who_wait() -> None:
    async def both() -> list[Stored | BaseException]:
        loop = asyncio.get_running_loop()
        good, bad = pending(loop), pending(loop)
        good.outcome = STORED
        fail([bad], StoreError("io", "broken"))
        settle([good, bad])
        return list(await asyncio.gather(good.future, bad.future, return_exceptions=True))

    first, second = asyncio.run(both())

    assert (first, repr(second)) == (STORED, repr(StoreError("io", "broken")))


def test_what_a_guard_refused_is_raised_as_it_is() -> None:
    refusal = ToolError("conflict", "twice")

    async def wait() -> None:
        refused = pending(asyncio.get_running_loop())
        refused.outcome = refusal
        settle([refused])
        await refused.future

    with pytest.raises(ToolError) as failure:
        asyncio.run(wait())
    assert failure.value is refusal


def test_an_append_has_no_guard_unless_it_is_given_one() -> None:
    loop = asyncio.new_event_loop()

    assert pending(loop).guard is None
    loop.close()


def test_an_append_without_an_outcome_is_a_failure() -> None:
    async def wait() -> None:
        left = pending(asyncio.get_running_loop())
        settle([left])
        await left.future

    with pytest.raises(StoreError, match="ended"):
        asyncio.run(wait())


def test_each_failed_append_has_an_error_of_its_own() -> None:
    loop = asyncio.new_event_loop()
    first, second = pending(loop), pending(loop)

    fail([first, second], StoreError("io", "broken"))
    loop.close()

    assert isinstance(first.outcome, StoreError)
    assert first.outcome is not second.outcome


def test_a_closed_loop_needs_no_answer() -> None:
    loop = asyncio.new_event_loop()
    left = pending(loop)
    loop.close()

    settle([left])

    assert not left.future.done()


def test_who_is_refused_never_sees_the_outcome_that_comes_meanwhile() -> None:
    complaints: list[object] = []

    async def refused_and_settled() -> list[Stored | BaseException]:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        early, late = pending(loop), pending(loop)
        early.outcome = late.outcome = STORED
        settle([early])
        refuse([early, late], StoreError("closed", "over"))
        settle([late])
        await asyncio.sleep(0)
        return list(await asyncio.gather(early.future, late.future, return_exceptions=True))

    first, second = asyncio.run(refused_and_settled())

    assert (first, repr(second), complaints) == (STORED, repr(StoreError("closed", "over")), [])


def test_a_closed_loop_needs_no_refusal() -> None:
    loop = asyncio.new_event_loop()
    left = pending(loop)
    loop.close()

    refuse([left], StoreError("closed", "over"))

    assert not left.future.done()


@pytest.mark.parametrize(
    "answer",
    [settle, lambda waiting: refuse(waiting, StoreError("closed", "over"))],
    ids=["settle", "refuse"],
)
def test_a_broken_loop_is_not_hidden(answer: Callable[[list[Pending]], None]) -> None:
    class Broken(asyncio.SelectorEventLoop):
        def call_soon_threadsafe(self, *arguments: object, **options: object) -> asyncio.Handle:
            raise RuntimeError("broken")

    loop = Broken()

    with pytest.raises(RuntimeError, match="broken"):
        answer([pending(loop)])
    loop.close()
