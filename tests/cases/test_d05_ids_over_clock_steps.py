"""D05: ids grow strictly in log order, whatever the clock, the threads and the randomness do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

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
