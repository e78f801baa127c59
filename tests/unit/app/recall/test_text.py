"""Text expressions: words, "phrases", prefix*, -not, and what is refused; the laws are in tests/property."""

from __future__ import annotations

import pytest

from app.recall.text import TERMS_AT_MOST, BadText, Tokenizer, parse_text
from app.records.claims import Term


def word(text: str) -> Term:
    return Term(text)


def prefix(text: str) -> Term:
    return Term(text, is_prefix=True)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("red", [word("red")], []),
        ("red apple", [word("red"), word("apple")], []),
        ("  red\t\napple\u3000", [word("red"), word("apple")], []),
        ('"red apple" car', [word("red apple"), word("car")], []),
        ("appl*", [prefix("appl")], []),
        ('"red appl"*', [prefix("red appl")], []),
        ("-red", [], [word("red")]),
        ('car -"red apple" -appl*', [word("car")], [word("red apple"), prefix("appl")]),
        ("--red", [], [word("-red")]),
        ("red-green", [word("red-green")], []),
        ("10.0.0.1:8080", [word("10.0.0.1:8080")], []),
        ("AND OR NOT NEAR", [word("AND"), word("OR"), word("NOT"), word("NEAR")], []),
        ("text:red ^red (red)", [word("text:red"), word("^red"), word("(red)")], []),
        ("a*b", [word("a*b")], []),
        ("a**", [prefix("a*")], []),
        ("a\0b", [word("a b")], []),
        ("größe 日本語", [word("größe"), word("日本語")], []),
        ("\ue000", [word("\ue000")], []),
    ],
)
def test_an_expression_becomes_terms(text: str, wanted: list[Term], unwanted: list[Term]) -> None:
    assert parse_text(text, "words") == (tuple(wanted), tuple(unwanted))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('"red', "a quotation mark has no partner"),
        ('red -"apple', "a quotation mark has no partner"),
        ('red" apple', "quotation marks stand around whole phrases"),
        ('"red"apple', "quotation marks stand around whole phrases"),
        ('red"apple"', "quotation marks stand around whole phrases"),
        ("", "there is no word in it"),
        ("  \n ", "there is no word in it"),
        ("*", "a word or phrase needs a letter or a digit to look for"),
        ("-", "a word or phrase needs a letter or a digit to look for"),
        ('""', "a word or phrase needs a letter or a digit to look for"),
        ("red ...", "a word or phrase needs a letter or a digit to look for"),
        ("-\u0301", "a word or phrase needs a letter or a digit to look for"),
        ("red " * (TERMS_AT_MOST + 1), "it has more than 64 words and phrases"),
        ("-red " * 33 + "red " * 32, "it has more than 64 words and phrases"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadText, match=why):
        parse_text(text, "words")


def test_as_many_terms_as_allowed_are_understood() -> None:
    wanted, unwanted = parse_text("red " * 32 + "-red " * 32, "words")

    assert (len(wanted), len(unwanted)) == (32, 32)


@pytest.mark.parametrize(
    ("text", "tokenizer", "is_understood"),
    [
        ("ab", "words", True),
        ("ab", "trigram", False),
        ("ab*", "trigram", False),
        ("-ab", "trigram", False),
        ("abc", "trigram", True),
        ('"a b"', "trigram", True),
        ("日本語", "trigram", True),
        ("日本", "trigram", False),
        ("...", "trigram", True),
    ],
)
def test_an_index_of_parts_of_words_needs_three_characters(
    text: str, tokenizer: Tokenizer, *, is_understood: bool
) -> None:
    if is_understood:
        assert parse_text(text, tokenizer)
        return
    with pytest.raises(BadText, match="a word needs 3 characters, because this index looks for parts"):
        parse_text(text, tokenizer)
