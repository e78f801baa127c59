"""The stop watch of one hop."""

from __future__ import annotations

from app.net.phases import Phases

MS = 1_000_000


class SteeredClock:
    """A clock that shows what it is told, in milliseconds."""

    def __init__(self) -> None:
        self.ms = 1000.0

    def wall_ns(self) -> int:
        return 0

    def monotonic_ns(self) -> int:
        return round(self.ms * MS)

    def boottime_ns(self) -> int:
        return 0

    def sync(self) -> tuple[bool | None, int | None]:
        return None, None


def test_phases_and_the_rest_add_up_to_the_total() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    for phase, until in (("resolve", 1003.0), ("connect", 1010.0)):
        phases.begin(phase)  # type: ignore[arg-type]  # the loop widens the literal
        clock.ms = until
    phases.pause()
    clock.ms = 1015.5
    phases.begin("body")
    clock.ms = 1020.0
    phases.finish()

    assert phases.timings() == {
        "resolve_ms": 3.0,
        "connect_ms": 7.0,
        "tls_ms": None,
        "send_ms": None,
        "first_byte_ms": None,
        "head_ms": None,
        "body_ms": 4.5,
        "other_ms": 5.5,
        "total_ms": 20.0,
    }


def test_a_phase_that_runs_twice_adds_up() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    for _ in range(2):
        phases.begin("resolve")
        clock.ms += 2
        phases.pause()
        clock.ms += 1

    assert phases.timings()["resolve_ms"] == 4.0


def test_after_the_end_nothing_changes() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    phases.begin("send")
    clock.ms += 2
    phases.finish()
    clock.ms += 5
    phases.finish()

    assert (phases.timings()["send_ms"], phases.timings()["total_ms"], phases.current) == (2.0, 2.0, None)


def test_a_moment_can_be_given_and_never_makes_a_phase_negative() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    phases.begin("first_byte", 1001 * MS)
    phases.begin("head", 1000 * MS)
    phases.finish(1004 * MS)

    assert (phases.timings()["first_byte_ms"], phases.timings()["head_ms"]) == (0.0, 3.0)


def test_an_answer_that_came_before_the_sending_call_returned_ends_the_sending() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    phases.begin("send", 1000 * MS)
    phases.begin("first_byte", 1003 * MS)
    phases.begin("head", 1002 * MS)
    phases.finish(1006 * MS)

    timings = phases.timings()
    assert (timings["send_ms"], timings["first_byte_ms"], timings["head_ms"]) == (2.0, 0.0, 4.0)


def test_the_offset_counts_from_the_start_of_the_hop() -> None:
    clock = SteeredClock()
    phases = Phases(clock)
    clock.ms += 12.5

    assert phases.offset_ms() == 12.5
