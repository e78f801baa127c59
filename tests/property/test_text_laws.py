"""Laws of searching by text: it is refused with a reason or finds what a plain reader finds, and is never syntax."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.recall.text import BadText, Tokenizer, parse_text
from app.records.claims import Row, Search, Term
from app.store.index_apply import filters
from app.store.index_schema import DEFINITION, TOKENIZERS
from app.store.index_search import page
from app.store.match import match

SAID: Final = (
    "the red apple",
    "The GREEN apple fell",
    "a car is not red",
    "NEAR the AND of an OR",
    "red-green f text xall xretracted",
    "10.0.0.1:8080 answers in 3 ms",
    "a_b a.b a+b",
    "Größe naïve café",
    "日本語 テスト",
    'he said "red apple" twice',
)
SYNTAX: Final = [
    *(
        '"',
        "'",
        "*",
        "-",
        "^",
        "(",
        ")",
        "{",
        "}",
        ":",
        "+",
        ",",
        ".",
        ";",
        "\\",
        "%",
        "_",
        "\0",
        " ",
        "\t",
        "\u3000",
    ),
    *(
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(",
        "NEAR/2",
        "f",
        "f:",
        "text",
        "text:",
        "{f text}:",
        "-f:",
        "rank",
        "fts",
    ),
    *(
        "xall;",
        "xretracted;",
        "red",
        "apple",
        "GREEN",
        "a",
        "app",
        "10.0.0.1",
        "é",
        "e\u0301",
        "日本",
        "ß",
        "ſ",
        "İ",
    ),
]
texts = (
    st.lists(st.sampled_from(SYNTAX) | st.text(max_size=3), min_size=1, max_size=8).map("".join) | st.text()
)
spaced = st.lists(st.sampled_from(SYNTAX), min_size=1, max_size=5).map(" ".join)
plain = st.lists(
    st.sampled_from(["red", "apple", "the", "green", "fell", "car", "not"]), min_size=1, max_size=3
)


def indexed(tokenizer: str) -> sqlite3.Connection:
    """An index in memory of what was said; claim 1 was retracted."""
    connection = sqlite3.connect(":memory:")
    for statement in DEFINITION.format(tokenizer=TOKENIZERS[tokenizer]).split(";\n"):
        connection.execute(statement)
    for number, said in enumerate(SAID, 1):
        row = Row(0, 0, said, (), 0, None)
        retracted = 9 if number == 1 else None
        ulid = number.to_bytes(16, "big")
        connection.execute("INSERT INTO claims VALUES(?,?,0,0,0,0,0,NULL,?)", (number, ulid, retracted))
        columns = (number, said, filters(row, is_retracted=number == 1))
        connection.execute("INSERT INTO fts(rowid,text,f) VALUES(?,?,?)", columns)
    return connection


@pytest.fixture(scope="module")
def indexes() -> Iterator[dict[Tokenizer, sqlite3.Connection]]:
    """One index a tokenizer."""
    made: dict[Tokenizer, sqlite3.Connection] = {"words": indexed("words"), "trigram": indexed("trigram")}
    yield made
    for connection in made.values():
        connection.close()


def found(connection: sqlite3.Connection, text: str, tokenizer: Tokenizer) -> list[int]:
    wanted, unwanted = parse_text(text, tokenizer)
    search = Search(wanted=wanted, unwanted=unwanted, retracted="include", order="oldest")
    return [hit.claim.n for hit in page(connection, search, None, 100).hits]


def words(text: str) -> list[str]:
    """The words of a text as a plain reader parts them: letters, digits and their marks, without accents and case."""
    parted, word = [], ""
    for character in unicodedata.normalize("NFC", text):
        if unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Co":
            word += unicodedata.normalize("NFD", character)[0].lower()
        elif word:
            parted.append(word)
            word = ""
    return [*parted, *([word] if word else [])]


def says(said: str, term: Term) -> bool:
    there, wanted = words(said), words(term.text)
    for start in range(len(there) - len(wanted) + 1):
        part = there[start : start + len(wanted)]
        if part[:-1] == wanted[:-1] and (
            part[-1].startswith(wanted[-1]) if term.is_prefix else part[-1] == wanted[-1]
        ):
            return True
    return False


@given(texts | spaced, st.sampled_from(["words", "trigram"]))
@example('"', "words")
@example('""', "words")
@example("*", "words")
@example("-", "trigram")
@example('"a b"*', "words")
@example('red" OR "car', "words")
@example("\0", "words")
@example("a\0b", "words")
@example("\u0345", "words")
@example("\U0001d167", "words")
@example("ʰ ⁿ ² ½ Ⅷ ①", "words")
@example("\ue000", "words")
@example("\U0001f600", "words")
@example("\ud800", "words")
@example("a" * 1024, "trigram")
def test_any_text_is_refused_with_a_reason_or_answered(
    indexes: dict[Tokenizer, sqlite3.Connection], text: str, tokenizer: Tokenizer
) -> None:
    try:
        numbers = found(indexes[tokenizer], text, tokenizer)
    except BadText as error:
        numbers = [len(str(error))]

    assert numbers == sorted(set(numbers))
    assert numbers != [0]


@given(texts)
def test_what_one_text_leaves_out_another_finds(
    indexes: dict[Tokenizer, sqlite3.Connection], text: str
) -> None:
    term = '"' + text.replace('"', " ") + '"'
    try:
        there = found(indexes["words"], term, "words")
    except BadText:
        return

    assert sorted(there + found(indexes["words"], f"-{term}", "words")) == list(range(1, len(SAID) + 1))


terms = st.builds(
    lambda parts, quoted, star: ('"' + " ".join(parts) + '"' if quoted else parts[0]) + star,
    plain,
    st.booleans(),
    st.sampled_from(["", "", "*"]),
)


@given(st.lists(st.tuples(terms, st.booleans()), min_size=1, max_size=3))
def test_words_phrases_and_prefixes_find_what_a_plain_reader_finds(
    indexes: dict[Tokenizer, sqlite3.Connection], expression: list[tuple[str, bool]]
) -> None:
    text = " ".join(("-" if unwanted else "") + term for term, unwanted in expression)
    wanted, unwanted = parse_text(text, "words")

    right = [
        number
        for number, said in enumerate(SAID, 1)
        if all(says(said, term) for term in wanted) and not any(says(said, term) for term in unwanted)
    ]

    assert found(indexes["words"], text, "words") == right


ascii_terms = st.text("abcdefghijklmnopqrstuvwxyzANDORTEF0123456789 -_.:;+*(){}^'", min_size=1, max_size=12)


@given(ascii_terms | st.sampled_from(SYNTAX))
def test_a_quoted_text_of_any_signs_is_the_words_in_it(
    indexes: dict[Tokenizer, sqlite3.Connection], text: str
) -> None:
    try:
        numbers = found(indexes["words"], f'"{text.replace(chr(34), " ")}"', "words")
    except BadText:
        assert not words(text)
        return

    assert numbers == [number for number, said in enumerate(SAID, 1) if says(said, Term(text))]


@given(st.text(min_size=3, max_size=6) | st.sampled_from([said[2:7] for said in SAID]))
def test_a_trigram_index_finds_parts_of_words(
    indexes: dict[Tokenizer, sqlite3.Connection], text: str
) -> None:
    try:
        numbers = found(indexes["trigram"], '"' + text.replace('"', " ") + '"', "trigram")
    except BadText:
        return

    for number, said in enumerate(SAID, 1):
        if text in said and "\0" not in text and '"' not in text:
            assert number in numbers


retracted_flags: Sequence[str] = ("exclude", "include", "only")


@given(texts, st.sampled_from(retracted_flags))
def test_no_text_reaches_the_column_of_filters(
    indexes: dict[Tokenizer, sqlite3.Connection], text: str, retracted: str
) -> None:
    try:
        wanted, unwanted = parse_text(text, "words")
    except BadText:
        return
    search = Search(wanted=wanted, unwanted=unwanted, retracted=retracted, order="oldest")  # type: ignore[arg-type]

    numbers = [hit.claim.n for hit in page(indexes["words"], search, None, 100).hits]

    everything = found(indexes["words"], text, "words")
    assert numbers == [n for n in everything if retracted == "include" or (n == 1) == (retracted == "only")]
    assert match(search)
