"""D05: ids grow strictly in log order, whatever the clock, the threads and the randomness do."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.records.codec import Record, body
from app.records.events import Measured
from app.store.file import FileLog
from app.store.log import Line, Stored

BODY = body(Measured("t", {}, "2026-09-22T08:14:03.000000Z", None, True, None))
NOW = 1_790_000_000_000_000_000
HOUR = 3_600_000_000_000


class SteeredClock(SystemClock):
    """A wall clock that shows what it is told to."""

    def __init__(self, wall_ns: int = NOW) -> None:
        self.now_ns = wall_ns

    def wall_ns(self) -> int:
        return self.now_ns


def appended(log: FileLog, count: int) -> list[Stored]:
    async def together() -> list[Stored]:
        return list(await asyncio.gather(*(log.append("p", "claims", "c", BODY) for _ in range(count))))

    return asyncio.run(together())


def stored_ids(log: FileLog) -> list[str]:
    return [found.record.id or "" for found in log.read("p", "claims") if isinstance(found, Line)]


def test_d05_ten_thousand_ids_of_one_frozen_instant_grow(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SteeredClock())

    stored = appended(log, 10_000)
    log.close()

    assert stored_ids(log) == [one.id for one in stored] == sorted({one.id for one in stored})
    assert {one.at for one in stored} == {"2026-09-21T14:13:20.000000Z"}


def test_d05_the_clock_goes_back_an_hour_within_and_across_a_restart(tmp_path: Path) -> None:
    clock = SteeredClock()
    first = FileLog(str(tmp_path), clock)
    stored = appended(first, 3)
    clock.now_ns -= HOUR
    stored += appended(first, 3)
    first.close()
    clock.now_ns -= HOUR
    second = FileLog(str(tmp_path), clock)
    stored += appended(second, 3)
    second.close()

    hours = [
        found.record.at[11:13]
        for found in second.read("p", "claims")
        if isinstance(found, Line) and isinstance(found.record, Record)
    ]
    assert stored_ids(second) == [one.id for one in stored] == sorted({one.id for one in stored})
    assert hours == ["14"] * 3 + ["13"] * 3 + ["12"] * 3


def test_d05_eight_threads_get_ids_in_log_order(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SteeredClock())
    threads = [threading.Thread(target=appended, args=(log, 100)) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()

    assert len(stored_ids(log)) == 800
    assert stored_ids(log) == sorted(set(stored_ids(log)))


def all_ones(size: int) -> bytes:
    return b"\xff" * size


def test_d05_full_randomness_moves_to_the_next_millisecond(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SteeredClock(), randomness=all_ones)

    first, second = appended(log, 1) + appended(log, 1)
    log.close()

    assert (first.id[12:], second.id[12:]) == ("Z" * 16, "0" * 16)
    assert first.id < second.id


@pytest.mark.parametrize("randomness", [all_ones, lambda size: b"\0" * size], ids=["all ones", "all zeros"])
def test_d05_a_clock_at_the_end_of_time_is_a_typed_error(
    tmp_path: Path, randomness: Callable[[int], bytes]
) -> None:
    clock = SteeredClock((2**48 - 1) * 1_000_000)
    log = FileLog(str(tmp_path), clock, randomness=randomness)

    with pytest.raises(StoreError):
        appended(log, 1)
    clock.now_ns = NOW

    assert appended(log, 1)[0].seq == 1
    log.close()


def steps(clerk: Any) -> list[dict[str, Any]]:
    """Claims before and after the clock goes back an hour, and once more after a restart at an hour before that."""
    clock = SteeredClock()
    first = clerk(clock)
    answers = [first.ask("assert", statement=f"claim {number}", observed_by="anna") for number in (1, 2)]
    clock.now_ns -= HOUR
    answers += [first.ask("assert", statement=f"claim {number}", observed_by="anna") for number in (3, 4)]
    first.close()
    clock.now_ns -= HOUR
    second = clerk(clock)
    answers += [second.ask("assert", statement=f"claim {number}", observed_by="anna") for number in (5, 6)]
    answers.append(second.ask("retract", claim_id=answers[0]["claim_id"], reason="it was another hour"))
    return answers


def test_d05_claims_over_a_clock_that_goes_back_keep_their_order_and_their_true_times(clerk: Any) -> None:
    *claims, retraction = steps(clerk)
    desk = clerk(SteeredClock(NOW - 3 * HOUR))
    found = desk.ask("query", order="oldest", retracted="include")["claims"]

    ids = [claim["claim_id"] for claim in claims]
    assert [claim["claim_id"] for claim in found] == ids == sorted(set(ids))
    assert retraction["retraction_id"][2:] > ids[-1][2:]
    assert [record["at"][11:13] for record in lines_of(desk)] == ["14"] * 2 + ["13"] * 2 + ["12"] * 3


def test_d05_a_window_of_time_asks_for_the_times_that_were_written(clerk: Any) -> None:
    steps(clerk)
    window = {"asserted_after": "2026-09-21T13:00:00Z", "asserted_before": "2026-09-21T14:00:00Z"}
    found = clerk(SteeredClock()).ask("query", order="oldest", **window)["claims"]

    assert [claim["statement"] for claim in found] == ["claim 3", "claim 4"]


def test_d05_no_age_is_negative_however_the_clock_steps(clerk: Any) -> None:
    answers = steps(clerk)
    desk = clerk(SteeredClock(NOW - 9 * HOUR))
    found = desk.ask("query", retracted="include")["claims"]
    events = desk.ask("history", claim_id=answers[0]["claim_id"])["events"]

    told = [*answers, *found, *events, found[-1]["retraction"]]
    assert min(each["age_seconds"] for each in told) >= 0
    assert {each["age_basis"] for each in answers} == {"monotonic"}
    assert {each["age_basis"] for each in [*found, *events]} == {"wall_clock"}


def test_d05_own_claims_age_by_the_clock_that_nobody_sets(clerk: Any) -> None:
    clock = SteeredClock()
    desk = clerk(clock)
    desk.ask("assert", statement="x answers", observed_by="anna")
    clock.now_ns += 1000 * HOUR
    (found,) = desk.ask("query", stale=False, stale_after_seconds=3600)["claims"]

    assert (found["age_basis"], found["stale"]) == ("monotonic", False)
    assert found["age_seconds"] < 3600


def lines_of(desk: Any) -> list[Any]:
    """The lines of the claims as they are stored."""
    file = Path(desk.settings.data_dir) / "projects/p/logs/claims.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
