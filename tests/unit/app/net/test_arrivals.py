"""The arrival curve: exact sums in bounded memory."""

from __future__ import annotations

from app.net.arrivals import Arrivals


def test_each_read_is_a_point_in_milliseconds_from_the_start() -> None:
    arrivals = Arrivals()
    arrivals.add(1_500_000, 10)
    arrivals.add(2_000_999, 5)

    assert arrivals.curve(1_000_000) == [[0.5, 10], [1.0, 5]]


def test_a_long_curve_is_thinned_and_its_sum_stays_exact() -> None:
    arrivals = Arrivals(most=8)
    for number in range(1, 1001):
        arrivals.add(number * 1_000_000, number)

    curve = arrivals.curve(0)
    assert len(curve) < 8
    assert sum(size for _, size in curve) == 500_500
    assert [curve[-1][0], sorted(curve)] == [1000.0, curve]


def test_an_odd_number_of_points_loses_none() -> None:
    arrivals = Arrivals(most=3)
    for number in (1, 2, 3):
        arrivals.add(number * 1_000_000, 1)

    assert arrivals.curve(0) == [[2.0, 2], [3.0, 1]]
