"""The tables of a project's index of claims; everything in them comes from `claims.jsonl`, and can be thrown away.

`fts` keeps no text, only where words stand: texts are read from the log. `claims` is narrow: a number that counts
claims in the order of the log, the place of the line, the times that filters ask for. `events` holds the other lines
about a claim: retractions, and lines of later versions.
"""

from __future__ import annotations

from typing import Final

SCHEMA: Final = "1"
"""Changes with every change of the tables."""

TABLES: Final = ("meta", "claims", "events", "fts")

DEFINITION: Final = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE claims(
    n INTEGER PRIMARY KEY, ulid BLOB NOT NULL, position INTEGER NOT NULL, length INTEGER NOT NULL,
    asserted_us INTEGER NOT NULL, basis_us INTEGER NOT NULL, content INTEGER NOT NULL, key INTEGER, retracted INTEGER);
CREATE UNIQUE INDEX claims_ulid ON claims(ulid);
CREATE INDEX claims_content ON claims(content);
CREATE INDEX claims_key ON claims(key) WHERE key IS NOT NULL;
CREATE INDEX claims_asserted ON claims(asserted_us);
CREATE INDEX claims_basis ON claims(basis_us);
CREATE INDEX claims_retracted ON claims(n) WHERE retracted IS NOT NULL;
CREATE TABLE events(ulid BLOB NOT NULL, position INTEGER NOT NULL, length INTEGER NOT NULL, kind TEXT NOT NULL,
    PRIMARY KEY(ulid, position)) WITHOUT ROWID;
CREATE VIRTUAL TABLE fts USING fts5(text, f, content='', tokenize='{tokenizer}');
"""

TOKENIZERS: Final = {"words": "unicode61 remove_diacritics 2", "trigram": "trigram"}
