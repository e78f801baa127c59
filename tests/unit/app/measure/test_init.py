"""The kinds are found by being there, and listed in the order of the page on the product."""

from __future__ import annotations

from app.measure import ORDER, kinds
from app.measure.kind import Kind, MeasureParams


def test_every_module_of_a_kind_is_found() -> None:
    assert [kind.name for kind in kinds()] == ["http", "ws"]


def test_the_kinds_stand_in_their_order() -> None:
    places = [ORDER.index(kind.name) for kind in kinds()]

    assert places == sorted(places)


def test_every_kind_can_be_advertised() -> None:
    for kind in kinds():
        assert isinstance(kind, Kind)
        assert issubclass(kind.params, MeasureParams)
        assert {"project", "timeout_ms", "detail"} <= set(kind.params.__struct_fields__)
