"""What the index keeps of a claim: its text, its times, the tokens that filters ask for, its hashes."""

from __future__ import annotations

from typing import Any

import pytest

from app.recall.projection import VERSION, hash64, observations, row, targets, token
from app.records.claims import Row
from app.records.codec import Record, body, line, tail
from app.records.events import Asserted
from app.records.ulid import ulid_text

AT = "2026-03-01T10:00:00.000000Z"
TEN = 1_772_359_200_000_000


def observation(observed_at: str = AT, **data: Any) -> dict[str, Any]:
    return {"type": "observation", "observed_at": observed_at, "data": data}


def record(event: Asserted, number: int = 1, at: str = AT) -> Record:
    claim_id = f"c_{ulid_text(number)}"
    return Record(number, claim_id, at, event, line(number, claim_id, at, body(event))[:-1])


def rowed(event: Asserted, number: int = 1, at: str = AT) -> Row:
    return row(record(event, number, at), event)


def claim(**members: Any) -> Asserted:
    return Asserted(
        **{"statement": "It listens.", "evidence": [], "observed_by": "me", "tags": [], **members}
    )


def test_a_row_is_the_statement_its_times_its_tokens_and_its_hashes() -> None:
    target = {"host": "::1", "port": 80}
    event = claim(tags=["b", "a"], evidence=[observation(target=target)], idempotency_key="k")

    made = rowed(event)

    tokens = [token("tag", "a"), token("tag", "b"), token("observed_by", "me"), token("target", "[::1]:80")]
    assert made == Row(
        TEN, TEN, "It listens.", tuple(sorted(tokens)), hash64(tail(record(event))), hash64(b"k")
    )


def test_a_claim_without_key_has_no_hash_of_one() -> None:
    assert rowed(claim()).key is None
    assert rowed(claim(idempotency_key="")).key == hash64(b"")


def test_the_same_event_has_the_same_hash_whenever_and_as_what_it_was_stored() -> None:
    first, second = rowed(claim(), 1), rowed(claim(), 2, "2027-01-01T00:00:00.000000Z")

    assert first.content == second.content
    assert first.content != rowed(claim(tags=["a"])).content


@pytest.mark.parametrize(
    ("evidence", "basis_us"),
    [
        pytest.param([], TEN, id="nothing cited: the assertion"),
        pytest.param([{"type": "note", "text": "seen"}], TEN, id="a note: the assertion"),
        pytest.param(
            [{"type": "claim", "asserted_at": "2020-01-01T00:00:00Z"}], TEN, id="a claim: the assertion"
        ),
        pytest.param([observation("2026-03-01T09:59:59Z")], TEN - 1_000_000, id="one measurement"),
        pytest.param(
            [observation("2026-03-01T09:59:58Z"), observation("2026-03-01T09:59:59Z")],
            TEN - 2_000_000,
            id="the oldest of two, first",
        ),
        pytest.param(
            [observation("2026-03-01T09:59:59Z"), observation("2026-03-01T09:59:58Z")],
            TEN - 2_000_000,
            id="the oldest of two, last",
        ),
        pytest.param([observation("2026-03-01T10:00:01Z")], TEN + 1_000_000, id="one from the future"),
        pytest.param([observation("nonsense")], 0, id="one without a time is as old as can be"),
        pytest.param([{"type": "observation"}], 0, id="one that says no time at all"),
    ],
)
def test_stale_counts_from_the_oldest_cited_measurement(
    evidence: list[dict[str, Any]], basis_us: int
) -> None:
    made = rowed(claim(evidence=evidence))

    assert (made.asserted_us, made.basis_us) == (TEN, basis_us)


def test_only_measurements_are_observations() -> None:
    event = claim(evidence=[{"type": "note"}, observation(kind="http"), {}, {"type": "claim"}])

    assert observations(event) == [observation(kind="http")]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        pytest.param({"target": {"host": "h.test", "port": 80}}, ["h.test:80"], id="its target"),
        pytest.param({"target": {"host": "::1", "port": 80}}, ["[::1]:80"], id="an address in brackets"),
        pytest.param(
            {
                "target": {"host": "b.test", "port": 443},
                "hops": [
                    {"target": {"host": "a.test", "port": 80}},
                    {"target": {"host": "b.test", "port": 443}},
                ],
            },
            ["b.test:443", "a.test:80", "b.test:443"],
            id="every hop of redirects",
        ),
        pytest.param(None, [], id="nothing was measured"),
        pytest.param([1], [], id="data of another shape"),
        pytest.param({"target": "h.test:80"}, [], id="a target of another shape"),
        pytest.param({"target": {"host": "h.test", "port": "80"}}, [], id="a port that is no number"),
        pytest.param({"target": {"host": "h.test"}}, [], id="no port"),
        pytest.param({"hops": "many"}, [], id="hops of another shape"),
        pytest.param(
            {"hops": [None, 7, {"target": {"host": "h", "port": 1}}]}, ["h:1"], id="hops of all shapes"
        ),
    ],
)
def test_the_targets_are_everything_that_was_measured(data: Any, found: list[str]) -> None:
    assert list(targets({"type": "observation", "data": data})) == found


def test_a_token_is_one_word_and_belongs_to_its_kind() -> None:
    tokens = {
        token(kind, value) for kind in ("tag", "observed_by", "target") for value in ("a", "b", "a b ü")
    }

    assert len(tokens) == 9
    assert all(made[1:-1].isalnum() and (made[0], made[-1]) == ("x", ";") for made in tokens)


def test_a_hash_has_sixty_four_bits_and_a_sign() -> None:
    hashes = [hash64(str(number).encode()) for number in range(64)]

    assert all(-(2**63) <= made < 2**63 for made in hashes)
    assert min(hashes) < 0 < max(hashes)


def test_what_is_stored_in_an_index_changes_only_with_its_version() -> None:
    made = rowed(claim(tags=["a"], idempotency_key="k"))

    assert (VERSION, made.content, made.key) == ("1", 4977493300437098202, -6029533338027043741)
    assert made.tokens == ("x5cf7deb2d881af67f963d040;", "x85bae59804c163e017bf844b;")
