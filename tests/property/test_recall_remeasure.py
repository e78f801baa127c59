"""Laws of measuring again: nothing masked remains, nothing else is lost, and the second time changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.recall.remeasure import MASK, remeasure_with
from app.redact import Redactor

MASKS = st.builds(
    Redactor(b"a key of the tests").mask,
    st.sampled_from(["known", "api-key", "proxy-authorization"]),
    st.text(min_size=6),
)
TEXTS = st.one_of(
    st.text(max_size=8),
    MASKS,
    st.builds("{}{}{}".format, st.text(max_size=4), MASKS, st.text(max_size=4)),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=5)


def again(arguments: dict[str, Any]) -> dict[str, Any]:
    return remeasure_with("facts.measure.ws", arguments, str)


def at(pointer: str, value: Any) -> tuple[Any, str]:
    """The container that a JSON Pointer leads to, and the last step."""
    *way, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in way:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value, last


@given(arguments=ARGUMENTS)
def test_nothing_masked_remains(arguments: dict[str, Any]) -> None:
    assert not MASK.search(repr(again(arguments)["arguments"]))


@given(arguments=ARGUMENTS)
def test_the_omitted_put_in_again_one_after_another_give_the_stored_arguments(
    arguments: dict[str, Any],
) -> None:
    answer = again(arguments)

    for pointer in answer["omitted"]:
        source, step = at(pointer, arguments)
        target, _ = at(pointer, answer["arguments"])
        if isinstance(source, list):
            target.insert(int(step), source[int(step)])
        else:
            target[step] = source[step]

    assert answer["arguments"] == arguments


@given(arguments=ARGUMENTS)
def test_only_what_holds_a_mask_is_omitted(arguments: dict[str, Any]) -> None:
    for pointer in again(arguments)["omitted"]:
        source, step = at(pointer, arguments)
        left_out = source[int(step)] if isinstance(source, list) else {step: source[step]}

        assert MASK.search(repr(left_out))


@given(arguments=ARGUMENTS)
def test_measuring_again_what_is_measured_again_changes_nothing(arguments: dict[str, Any]) -> None:
    once = again(arguments)

    assert again(once["arguments"]) == {**once, "omitted": []}
