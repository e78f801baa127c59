"""Nothing is said twice and nothing is taken back twice, however many ask at once; and an index that is not there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import app.tools.recall_guards as module
from app.errors import ToolError
from app.records.codec import body
from app.records.events import Asserted
from app.store.index import State
from app.tools.recall_guards import NotTwice, StillStands, wait_for_index

EVENT = Asserted("It listens.", [], "me", [])


class Building:
    """An index that is behind until it was waited for often enough; it keeps how long it was waited for."""

    def __init__(self, waits: int) -> None:
        self.waits = waits
        self.waited: list[float] = []

    def is_ready(self) -> bool:
        return False

    def catch_up(self) -> State:
        return State(10 if len(self.waited) >= self.waits else 3, 10)

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


class Behind:
    """A registry of which every index is behind."""

    @contextmanager
    def using(self, _project: str) -> Iterator[Building]:
        yield Building(9)


def test_of_equal_claims_at_once_one_is_stored_and_answers_for_all(desk: Any) -> None:
    answers = desk.together("assert", *[{"statement": "same", "observed_by": "me"}] * 20)

    assert len({answer["claim_id"] for answer in answers}) == 1
    assert sorted(answer["created"] for answer in answers) == [False] * 19 + [True]
    assert desk.call("query")["matched"] == 1


def test_of_claims_with_one_key_at_once_one_is_stored_and_the_others_conflict(desk: Any) -> None:
    calls = [{"statement": f"{n}", "observed_by": "me", "idempotency_key": "k"} for n in range(10)]

    answers = desk.together("assert", *calls)

    stored = [answer for answer in answers if "claim_id" in answer]
    refused = [answer["details"]["claim_id"] for answer in answers if "code" in answer]
    assert (len(stored), refused) == (1, [stored[0]["claim_id"]] * 9)


def test_different_claims_at_once_are_all_stored(desk: Any) -> None:
    answers = desk.together("assert", *({"statement": f"{n}", "observed_by": "me"} for n in range(20)))

    assert len({answer["claim_id"] for answer in answers if answer["created"]}) == 20
    assert desk.call("query")["matched"] == 20


def test_of_retractions_at_once_one_is_stored_and_the_others_are_told_which(desk: Any) -> None:
    claim_id = desk.call("assert", statement="a", observed_by="me")["claim_id"]

    answers = desk.together("retract", *({"claim_id": claim_id, "reason": f"{n}"} for n in range(10)))

    stored = [answer["retraction_id"] for answer in answers if "retraction_id" in answer]
    refused = [answer["details"]["retraction"]["retraction_id"] for answer in answers if "code" in answer]
    assert (len(stored), refused) == (1, stored * 9)
    assert len(desk.call("history", claim_id=claim_id)["events"]) == 2


@pytest.mark.parametrize(
    ("event", "shares"),
    [
        pytest.param(EVENT, True, id="the same content"),
        pytest.param(Asserted("b", [], "me", [], idempotency_key="k"), True, id="the same key"),
        pytest.param(Asserted("b", [], "me", []), False, id="other content"),
        pytest.param(Asserted("b", [], "me", [], idempotency_key="l"), False, id="other content and key"),
    ],
)
def test_assertions_that_depend_on_each_other_share_a_key(
    desk: Any, event: Asserted, *, shares: bool
) -> None:
    registry = desk.archive.registry
    own = NotTwice(registry, "p", EVENT, body(EVENT)).keys
    keyed = Asserted("a", [], "me", [], idempotency_key="k")
    others = own | NotTwice(registry, "p", keyed, body(keyed)).keys

    assert bool(NotTwice(registry, "p", event, body(event)).keys & others) is shares


def test_retractions_of_one_claim_share_a_key(desk: Any) -> None:
    registry, view = desk.archive.registry, lambda: desk.archive.view(desk.archive.now(), "full")
    keys = [StillStands(registry, "p", claim_id, view).keys for claim_id in ("c_1", "c_1", "c_2", "c_\udc00")]

    assert (keys[0] == keys[1], len(set(keys))) == (True, 3)


def test_nothing_stands_for_a_claim_that_is_new(desk: Any) -> None:
    assert NotTwice(desk.archive.registry, "p", EVENT, body(EVENT)).decide() is None


def test_an_equal_claim_stands_for_it_with_its_place_in_the_log(desk: Any) -> None:
    desk.call("assert", statement="before", observed_by="me")
    claim_id = desk.call("assert", statement="It listens.", observed_by="me")["claim_id"]

    stands = NotTwice(desk.archive.registry, "p", EVENT, body(EVENT)).decide()

    assert stands is not None
    assert (stands.id, stands.seq, stands.log, stands.created) == (claim_id, 2, "claims", False)
    assert stands.position == desk.call("history", claim_id=claim_id)["events"][0]["position"]


def test_a_ready_index_is_not_waited_for(desk: Any) -> None:
    desk.call("assert", statement="a", observed_by="me")

    with desk.archive.registry.using("p") as index:
        assert index.is_ready()
        asyncio.run(wait_for_index(index))


@pytest.mark.parametrize("waits", [0, 1], ids=["little is missing", "it is built meanwhile"])
def test_an_index_that_becomes_current_lets_the_call_go_on(waits: int) -> None:
    index = Building(waits)

    asyncio.run(wait_for_index(index))  # type: ignore[arg-type]  # the part of an index that is asked for

    assert index.waited == [10.0] * waits


def test_an_index_that_takes_too_long_is_busy_and_says_how_far_it_is() -> None:
    with pytest.raises(ToolError) as refused:
        asyncio.run(wait_for_index(Building(9)))  # type: ignore[arg-type]  # see above

    content = refused.value.content()
    assert (content["code"], content["reason_code"], content["retryable"]) == ("busy", "index_building", True)
    assert content["message"] == "The index is being built: 3 of 10 bytes."
    assert content["retry_after_seconds"] == module.PATIENCE_SECONDS == 10.0


@pytest.mark.parametrize("which", ["assert", "retract"])
def test_the_last_word_is_not_given_while_the_index_is_behind(which: str) -> None:
    registry: Any = Behind()
    guards: dict[str, Any] = {
        "assert": NotTwice(registry, "p", EVENT, body(EVENT)),
        "retract": StillStands(registry, "p", "c_1", lambda: pytest.fail("nothing is shown")),
    }

    with pytest.raises(ToolError, match="The index is being built"):
        guards[which].decide()
