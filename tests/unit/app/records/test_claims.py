"""The values that an index is fed and asked: frozen, and open unless something is asked for."""

from __future__ import annotations

import msgspec
import pytest

from app.records.claims import Place, Row, Search, Term


def test_a_search_without_arguments_asks_for_everything_that_was_not_taken_back() -> None:
    assert msgspec.structs.asdict(Search()) == {
        **dict.fromkeys(("wanted", "unwanted", "all_of", "any_of"), ()),
        **dict.fromkeys(("asserted_from", "asserted_until", "basis_from", "basis_until")),
        "retracted": "exclude",
        "order": "newest",
    }


def test_a_term_is_a_whole_word_unless_it_is_said_to_go_on() -> None:
    assert (Term("a"), Term("a", is_prefix=True).is_prefix) == (Term("a", is_prefix=False), True)


@pytest.mark.parametrize("value", [Search(), Term("a"), Place(), Row(0, 0, "", (), 0, None)], ids=repr)
def test_values_between_recall_and_the_store_cannot_be_changed(value: msgspec.Struct) -> None:
    with pytest.raises(AttributeError):
        setattr(value, value.__struct_fields__[0], None)


@pytest.mark.parametrize("number", [-1, 2**62 + 1, 1.5, "1", None])
def test_a_place_from_outside_has_numbers_that_a_database_holds(number: object) -> None:
    assert msgspec.json.decode(b'{"last":4611686018427387904}', type=Place) == Place(2**62)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"offset": number}, Place)
