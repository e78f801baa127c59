"""The clocks, and the two forms in which an instant is written."""

from __future__ import annotations

import time

import pytest

from app.clock import SystemClock, local_text, utc_text

INSTANT_NS = 1_790_064_843_482_119_999


def test_an_instant_is_stored_in_utc_with_microseconds() -> None:
    assert utc_text(INSTANT_NS) == "2026-09-22T08:14:03.482119Z"


def test_an_instant_is_answered_with_the_offset_of_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    shown = local_text(INSTANT_NS)
    monkeypatch.undo()
    time.tzset()

    assert shown == "2026-09-22T10:14:03.482+02:00"


def test_the_monotonic_clocks_never_go_back() -> None:
    clock = SystemClock()

    first = (clock.monotonic_ns(), clock.boottime_ns())
    second = (clock.monotonic_ns(), clock.boottime_ns())

    assert first[0] <= second[0]
    assert first[1] <= second[1]


def test_wall_time_counts_from_1970() -> None:
    assert utc_text(SystemClock().wall_ns()) > "2026"


def test_the_kernel_is_asked_whether_the_wall_clock_is_synchronised() -> None:
    clock = SystemClock()

    synced, est_error_us = clock.sync()

    assert (isinstance(synced, bool), isinstance(est_error_us, int)) == (True, True)
    assert clock.sync() is clock.sync()
