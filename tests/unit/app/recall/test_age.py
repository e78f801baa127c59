"""Ages: by the clock since boot for what was seen here, by the wall clock for the rest, never negative."""

from __future__ import annotations

import pytest

from app.recall.age import KEPT, Moment, Witness

SECOND = 1_000_000_000
START = Moment(1_000 * SECOND, 50 * SECOND)


def witness(*seen: tuple[str, Moment]) -> Witness:
    made = Witness()
    for record_id, moment in seen:
        made.saw(record_id, moment)
    return made


@pytest.mark.parametrize(
    ("wall", "boot", "age"),
    [
        pytest.param(1_003, 53, 3.0, id="both clocks went on"),
        pytest.param(900, 53, 3.0, id="the wall clock was set back"),
        pytest.param(9_999, 53, 3.0, id="the wall clock was set forward"),
        pytest.param(1_000, 50, 0.0, id="no time went by"),
        pytest.param(1_000, 49, 0.0, id="the clock since boot went back"),
    ],
)
def test_what_was_seen_here_is_aged_by_the_clock_since_boot(wall: int, boot: int, age: float) -> None:
    now = Moment(wall * SECOND, boot * SECOND)

    told = witness(("c_1", START)).age("c_1", 0, now)

    assert told == {"age_seconds": age, "age_basis": "monotonic"}


@pytest.mark.parametrize(
    ("wall_us", "age"),
    [
        pytest.param(999_000_000, 1.0, id="earlier"),
        pytest.param(999_999_600, 0.0, id="less than half a millisecond earlier"),
        pytest.param(999_998_500, 0.002, id="rounded to milliseconds"),
        pytest.param(1_000_000_001, 0.0, id="later than now"),
        pytest.param(10**15, 0.0, id="much later than now"),
    ],
)
def test_what_others_saw_is_aged_by_the_wall_clock_and_never_below_zero(wall_us: int, age: float) -> None:
    told = witness(("c_1", START)).age("c_2", wall_us, START)

    assert told == {"age_seconds": age, "age_basis": "wall_clock"}


def test_the_oldest_record_is_forgotten_when_there_are_too_many() -> None:
    made = witness(*((f"c_{number}", START) for number in range(KEPT + 1)))

    bases = [made.age(f"c_{number}", 0, START)["age_basis"] for number in (0, 1, KEPT)]

    assert (KEPT, bases) == (20_000, ["wall_clock", "monotonic", "monotonic"])


@pytest.mark.parametrize(
    ("seen", "now", "doubt_us"),
    [
        pytest.param([], Moment(7, 5), 0, id="nothing was seen"),
        pytest.param([START], START, 0, id="no time went by"),
        pytest.param([START], Moment(1_009 * SECOND, 59 * SECOND), 0, id="both clocks went on"),
        pytest.param([START], Moment(1_002 * SECOND, 50 * SECOND), 2_000_000, id="set forward"),
        pytest.param([START], Moment(998 * SECOND, 50 * SECOND), 2_000_000, id="set back"),
        pytest.param(
            [START, Moment(1_005 * SECOND, 50 * SECOND)], START, 5_000_000, id="set forward and back again"
        ),
        pytest.param(
            [START, Moment(996 * SECOND, 50 * SECOND)], START, 4_000_000, id="set back and forward again"
        ),
    ],
)
def test_the_doubt_is_how_far_the_wall_clock_was_ever_set(
    seen: list[Moment], now: Moment, doubt_us: int
) -> None:
    made = witness(*((f"c_{number}", moment) for number, moment in enumerate(seen)))

    assert made.doubt_us(now) == doubt_us


def test_a_forgotten_record_still_counts_for_the_doubt() -> None:
    later = Moment(START.wall_ns + SECOND, START.boot_ns)
    made = witness(("c_first", START), *((f"c_{number}", later) for number in range(KEPT)))

    assert made.doubt_us(later) == 1_000_000
