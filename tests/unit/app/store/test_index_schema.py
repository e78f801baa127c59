"""The tables of an index, as SQLite understands them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from app.store.index_schema import DEFINITION, TABLES, TOKENIZERS


@pytest.mark.parametrize(
    ("tokenizer", "text", "found"),
    [
        ("words", "die Größe", True),
        ("words", "GROSSE", False),
        ("words", "grösse", False),
        ("words", "große", True),
        ("words", "roß", False),
        ("trigram", "roß", True),
        ("trigram", "die Größe", True),
    ],
)
def test_a_text_is_found_as_its_tokenizer_says(tokenizer: str, text: str, *, found: bool) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DEFINITION.format(tokenizer=TOKENIZERS[tokenizer]))
        connection.execute("INSERT INTO fts(rowid,text,f) VALUES(1,'Die Größe','')")
        connection.execute("INSERT INTO fts(rowid,text,f) VALUES(2,'die Große',''), (3,'roSS','')")

        rows = connection.execute("SELECT rowid FROM fts WHERE fts MATCH ?", (f'"{text}"',)).fetchall()

    assert ((1,) in rows or (2,) in rows) is found


def test_every_table_is_named_so_that_all_can_be_dropped() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DEFINITION.format(tokenizer="unicode61"))
        for table in TABLES:
            connection.execute(f"DROP TABLE {table}")

        left = connection.execute("SELECT name FROM sqlite_master").fetchall()

    assert left == []
