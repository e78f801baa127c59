"""The clocks, and the two forms in which an instant is written."""

from __future__ import annotations

import ctypes
import struct
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


class Library:
    """A C library whose adjtimex answers as a test says, with the status and the error in the structure."""

    def __init__(self, state: int, status: int = 0, est_error_us: int = 0) -> None:
        self._told = (state, struct.pack("@Iqqqqi", 0, 0, 0, 0, est_error_us, status))

    def adjtimex(self, timex: ctypes.Array[ctypes.c_char]) -> int:
        state, told = self._told
        ctypes.memmove(timex, told, len(told))
        return state


@pytest.mark.parametrize(
    ("library", "told"),
    [
        pytest.param(Library(0, 0x2001, 12), (True, 12), id="steered by a time server"),
        pytest.param(Library(0, 0x40, 16_000_000), (False, 16_000_000), id="marked as not synchronised"),
        pytest.param(Library(5, 0, 7), (False, 7), id="in the state of error"),
        pytest.param(Library(-1), (None, None), id="forbidden to ask"),
        pytest.param(object(), (None, None), id="another C library"),
    ],
)
def test_what_the_kernel_says_of_its_clock_is_told(
    monkeypatch: pytest.MonkeyPatch, library: object, told: tuple[bool | None, int | None]
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: library)

    assert SystemClock().sync() == told
