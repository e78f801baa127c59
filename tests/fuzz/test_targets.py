"""Replays the corpus of odd targets: each is read in its canonical form, or refused with the documented error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policy.egress import Policy
from policy.errors import TargetError
from policy.explain import exit_code, explain, render
from policy.target import join_url, parse_host_port, parse_url

CORPUS: list[str] = json.loads(
    (Path(__file__).parent / "targets" / "corpus.json").read_text(encoding="utf-8")
)
TEXTS = pytest.mark.parametrize("text", CORPUS, ids=lambda text: ascii(text)[1:60])


def test_the_corpus_is_not_empty() -> None:
    assert len(CORPUS) >= 250


@TEXTS
def test_a_text_is_read_or_refused(text: str) -> None:
    try:
        target = parse_url(text)
    except TargetError as error:
        target = None
        message = error.message

    if target is None:
        assert 0 < len(message) < 200
    else:
        assert parse_url(target.url) == target


@TEXTS
def test_a_text_is_read_or_refused_as_a_location_and_as_an_entry(text: str) -> None:
    base, read = parse_url("http://base.test/a/b"), 0

    for reader in (lambda text: join_url(base, text), parse_host_port):
        try:
            reader(text)
        except TargetError:
            continue
        read += 1

    assert read in {0, 1, 2}


@TEXTS
def test_a_text_can_be_explained(text: str) -> None:
    explained = explain(Policy.parse("private"), text)

    assert exit_code(explained) in {0, 1, 2}
    assert render(explained).isprintable() or "\n" in render(explained)
