"""The registry: claims are found, read back, and looked after when the log beneath the index was altered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.recall.projection import hash64, row
from app.records.claims import Search, Term
from app.records.codec import Future, Record, body, storable
from app.records.events import Asserted
from app.records.names import BadProjectName
from app.records.ulid import ulid_text
from app.store import registry as module
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import Recipe, State
from app.store.log import Damage, Stored
from app.store.registry import Registry
from app.store.scripted import ScriptedFiles

Claim = Callable[..., bytes]
Open = Callable[..., Registry]
Place = Callable[..., Path]
Retraction = Callable[[int, int], bytes]
AT = "2026-09-22T08:14:03.000000Z"


def c(number: int) -> str:
    return f"c_{ulid_text(number)}"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """`opened(files=, report=)`: the registry of the test's directory."""
    made: list[tuple[FileLog, Registry]] = []

    def make(files: Files | None = None, report: Callable[[Damage], None] = print) -> Registry:
        device = files or Files()
        log = FileLog(str(tmp_path), SystemClock())
        root = DataDirectory(str(tmp_path), device)
        made.append((log, Registry(log, root, device, Recipe("words", "1", row), report, print)))
        return made[-1][1]

    yield make
    for log, registry in made:
        registry.close()
        log.close()


def seqs(registry: Registry, search: Search, limit: int = 20) -> list[int]:
    return [found.record.seq for found in registry.search("p", search, None, limit).claims]


def test_a_search_gives_claims_with_their_retractions(
    opened: Open, place: Place, claim: Claim, retraction: Retraction
) -> None:
    size = place(claim(1) + claim(2) + retraction(3, 1) + retraction(4, 1), "claims").stat().st_size

    found = opened().search("p", Search(retracted="include"), None, 20)

    told = [(one.record.id, one.retraction.seq if one.retraction else None) for one in found.claims]
    assert told == [(c(2), None), (c(1), 3)]
    assert found[1:] == (None, 2, True, State(size, size))


def test_a_page_says_where_the_next_one_begins(opened: Open, place: Place, claim: Claim) -> None:
    place(b"".join(map(claim, range(1, 6))), "claims")
    registry = opened()
    spot, pages = None, []
    for _ in range(3):
        found = registry.search("p", Search(), spot, 2)
        pages.append([one.record.seq for one in found.claims])
        spot = found.place

    assert (pages, spot) == ([[5, 4], [3, 2], [1]], None)


@pytest.mark.parametrize("text", [(), (Term("claim"),)], ids=["without text", "with text"])
def test_a_page_ends_where_its_lines_hold_too_much_and_nothing_is_left_out(
    opened: Open, place: Place, claim: Claim, monkeypatch: pytest.MonkeyPatch, text: tuple[Term, ...]
) -> None:
    monkeypatch.setattr(module, "PAGE_BYTES", 2 * len(claim(1)))
    place(b"".join(map(claim, range(1, 4))) + claim(4, "claim " * 1000) + claim(5), "claims")
    registry = opened()
    spot, pages = None, []
    for _ in range(9):
        found = registry.search("p", Search(wanted=text), spot, 20)
        pages.append([one.record.seq for one in found.claims])
        spot = found.place
        if spot is None:
            break

    assert (pages, found.matched) == ([[5], [4], [3, 2], [1]], 5)


def test_a_claim_is_found_by_its_id(opened: Open, place: Place, claim: Claim, retraction: Retraction) -> None:
    place(claim(1, "one") + claim(2, "two") + retraction(3, 2), "claims")
    registry = opened()

    one, two, none = (registry.claim("p", each) for each in (c(1), c(2), c(9)))

    assert one is not None
    assert two is not None
    assert two.retraction is not None
    assert (one.record.seq, one.retraction, two.record.seq, two.retraction.seq) == (1, None, 2, 3)
    assert (none, registry.claim("p", "nonsense")) == (None, None)


def test_history_is_every_line_about_a_claim_in_the_order_of_the_log(
    opened: Open, place: Place, claim: Claim, retraction: Retraction
) -> None:
    later = claim(4).replace(ulid_text(4).encode(), ulid_text(1).encode()).replace(b'"v":1', b'"v":2')
    lines = [claim(1), claim(2), retraction(3, 1), later, retraction(5, 1)]
    place(b"".join(lines), "claims")
    registry = opened()

    told = registry.history("p", c(1))

    starts = [sum(map(len, lines[:number])) for number in range(5)]
    assert [event.position for event in told] == [starts[0], starts[2], starts[3], starts[4]]
    assert [event.record.raw + b"\n" for event in told] == [lines[0], *lines[2:]]
    assert (registry.history("p", c(9)), registry.history("p", "nonsense")) == ([], [])


def test_a_retraction_of_no_claim_is_history_too(opened: Open, place: Place, retraction: Retraction) -> None:
    place(retraction(1, 7), "claims")

    assert [event.record.seq for event in opened().history("p", c(7))] == [1]


@pytest.mark.parametrize(
    ("new", "is_served"),
    [(b'{"v":9', False), (b'{"x":1', False), (b" " * 6, False), (b'{"v":1', True)],
    ids=["a later version", "no record", "no object", "unaltered"],
)
def test_a_line_altered_beneath_the_index_is_reported_and_not_served(
    opened: Open, place: Place, claim: Claim, new: bytes, *, is_served: bool
) -> None:
    reported: list[Damage] = []
    path = place(claim(1) + claim(2) + b" " * 5000 + b"\n", "claims")
    registry = opened(report=reported.append)
    seqs(registry, Search())
    reported.clear()
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(new + content[6:])

    assert seqs(registry, Search()) == ([2, 1] if is_served else [2])
    assert (registry.claim("p", c(1)) is not None) is is_served
    damage = Damage("projects/p/logs/claims.jsonl", 0, len(claim(1)) - 1, "not_a_record")
    assert reported == ([] if is_served else [damage, damage])


def test_another_claim_in_the_place_of_one_is_not_served_for_it(
    opened: Open, place: Place, claim: Claim
) -> None:
    reported: list[Damage] = []
    path = place(claim(1) + claim(2) + b" " * 5000 + b"\n", "claims")
    registry = opened(report=reported.append)
    seqs(registry, Search())
    reported.clear()
    with path.open("r+b") as file:
        file.write(claim(3))

    assert (seqs(registry, Search()), registry.claim("p", c(1)), len(reported)) == ([2], None, 2)


def test_a_claim_equal_in_every_stored_field_is_found(opened: Open, place: Place, claim: Claim) -> None:
    place(claim(1, "other") + claim(2, tags=["x"]) + claim(3) + claim(4), "claims")
    registry = opened()
    registry.index("p").catch_up()
    event = Asserted("a claim", [], "me", [])
    line = storable(body(event))[:-1]

    same = registry.same("p", event, hash64(line), line)

    position = len(claim(1, "other")) + len(claim(2, tags=["x"]))
    assert same == Stored(3, c(3), AT, "claims", position, created=False)


@pytest.mark.parametrize("field", ["statement", "observed_by", "tags", "evidence", "source", "about"])
def test_a_claim_that_differs_in_one_field_is_not_equal_whatever_its_hash(
    opened: Open, place: Place, claim: Claim, field: str
) -> None:
    other: dict[str, Any] = {
        "statement": "b",
        "observed_by": "you",
        "tags": ["x"],
        "evidence": [{"type": "note", "text": ""}],
        "source": "s",
        "about": {},
    }
    place(claim(1), "claims")
    registry = opened()
    registry.index("p").catch_up()
    equal = Asserted("a claim", [], "me", [])
    event = msgspec.structs.replace(equal, **{field: other[field]})
    stored_hash = hash64(storable(body(equal))[:-1])

    assert registry.same("p", event, stored_hash, storable(body(event))[:-1]) is None


def test_a_retracted_claim_is_equal_to_none(
    opened: Open, place: Place, claim: Claim, retraction: Retraction
) -> None:
    place(claim(1) + retraction(2, 1), "claims")
    registry = opened()
    registry.index("p").catch_up()
    event = Asserted("a claim", [], "me", [])
    line = storable(body(event))[:-1]

    assert registry.same("p", event, hash64(line), line) is None


def test_a_claim_altered_beneath_the_index_is_equal_to_none(opened: Open, place: Place, claim: Claim) -> None:
    path = place(claim(1) + b" " * 5000 + b"\n", "claims")
    registry = opened()
    registry.index("p").catch_up()
    with path.open("r+b") as file:
        file.write(b"rubbish")
    event = Asserted("a claim", [], "me", [])
    line = storable(body(event))[:-1]

    assert registry.same("p", event, hash64(line), line) is None


def test_claims_are_found_by_their_key_retracted_or_not(
    opened: Open, place: Place, claim: Claim, retraction: Retraction
) -> None:
    keyed = claim(1, idempotency_key="k") + claim(2, "b", idempotency_key="k") + claim(3, idempotency_key="l")
    place(keyed + retraction(4, 1), "claims")
    registry = opened()
    registry.index("p").catch_up()

    found = [registry.with_key("p", key, hash64(b"k")) for key in ("k", "l")]

    assert [[record.seq for record in each] for each in found] == [[1, 2], []]
    assert registry.with_key("p", "m", hash64(b"m")) == []


def test_a_line_of_any_log_is_found_by_its_id(
    opened: Open, place: Place, claim: Claim, lines: Callable[..., bytes]
) -> None:
    place(claim(1) + claim(2).replace(b'"v":1', b'"v":2'), "claims")
    place(lines([3, 4]), "observations")
    registry = opened()

    kinds = [
        type(registry.record("p", log, record_id))  # type: ignore[arg-type]
        for log, record_id in [
            ("claims", c(1)),
            ("claims", c(2)),
            ("claims", c(9)),
            ("observations", f"o_{ulid_text(4)}"),
            ("observations", c(4)),
            ("documents", f"d_{ulid_text(4)}"),
        ]
    ]

    assert kinds == [Record, Future, type(None), Record, type(None), type(None)]


def test_a_line_with_an_id_that_is_no_record_is_not_served(opened: Open, place: Place, claim: Claim) -> None:
    place(claim(1).replace(b'"statement"', b'"statemenz"'), "claims")

    assert opened().record("p", "claims", c(1)) is None


def test_a_log_that_cannot_be_read_is_a_typed_error(opened: Open, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")

    with pytest.raises(StoreError) as failure:
        opened(ScriptedFiles(pread=[OSError(5, "broken")])).record("p", "claims", c(1))

    assert failure.value.reason == "io"


def test_what_was_acknowledged_is_found_at_once(opened: Open) -> None:
    registry = opened()
    found: list[list[int]] = []

    async def several() -> None:
        for number in range(5):
            event = Asserted(f"number {number}", [], "me", [])
            await registry.log.append("p", "claims", "c", body(event))
            found.append(seqs(registry, Search(wanted=(Term("number"),))))

    asyncio.run(several())

    assert found == [list(range(number, 0, -1)) for number in range(1, 6)]


@pytest.mark.parametrize("name", ["", "..", "a/b", "P"])
def test_only_normalised_names_become_paths(opened: Open, name: str) -> None:
    registry = opened()

    for ask in (
        lambda: registry.search(name, Search(), None, 1),
        lambda: registry.record(name, "claims", c(1)),
        lambda: registry.history(name, c(1)),
    ):
        with pytest.raises(BadProjectName):
            ask()


def test_projects_have_indexes_of_their_own_and_only_some_stay_open(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "INDEXES_KEPT", 2)
    registry = opened()
    first, second = registry.index("a"), registry.index("b")
    again = registry.index("a")
    registry.index("c")

    assert (again is first, registry.index("a") is first) == (True, True)
    assert registry.index("b") is not second


def test_closing_lets_go_of_every_file(opened: Open, place: Place, claim: Claim) -> None:
    place(claim(1), "claims")
    before = set(os.listdir("/proc/self/fd"))
    registry = opened()
    for name in ("p", "q"):
        registry.search(name, Search(), None, 1)
    registry.record("p", "claims", c(1))

    registry.close()

    assert set(os.listdir("/proc/self/fd")) <= before


def test_the_promised_numbers_are_these() -> None:
    assert (module.INDEXES_KEPT, module.PAGE_BYTES) == (32, 4 << 20)
