"""What a caller may write to find claims: words, "phrases", prefix*, -not. It never becomes syntax of an index."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

from app.errors import FactsError
from app.records.claims import Term

Tokenizer = Literal["words", "trigram"]

TERMS_AT_MOST: Final = 64
_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"|([^\s"]+))(\*?)(?=\s|$)')
_SPACE: Final = re.compile(r"\s+")
_LEAST: Final = {"words": 1, "trigram": 3}


class BadText(FactsError, ValueError):
    """The expression cannot be understood; the message says why, for the caller."""


def parse_text(text: str, tokenizer: Tokenizer) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """The wanted and the unwanted terms of an expression; every wanted one has to be there, no unwanted one may.

    Raises `BadText` for a quotation mark without its partner, a term in which there is nothing to look for (for
    `trigram`: fewer than three characters), and more than `TERMS_AT_MOST` terms.
    """
    wanted: list[Term] = []
    unwanted: list[Term] = []
    position = len(text) - len(text.lstrip())
    while position < len(text):
        match = _TERM.match(text, position)
        if match is None:
            raise BadText(_why_not(text[position:]))
        (unwanted if match[1] else wanted).append(_term(match, tokenizer))
        gap = _SPACE.match(text, match.end())
        position = gap.end() if gap else match.end()
    if not wanted and not unwanted:
        raise BadText("there is no word in it")
    if len(wanted) + len(unwanted) > TERMS_AT_MOST:
        raise BadText(f"it has more than {TERMS_AT_MOST} words and phrases")
    return tuple(wanted), tuple(unwanted)


def _term(match: re.Match[str], tokenizer: Tokenizer) -> Term:
    quoted, bare, star = match[2], match[3], bool(match[4])
    if quoted is None and bare.endswith("*"):
        bare, star = bare.removesuffix("*"), True
    text = (bare if quoted is None else quoted).replace("\0", " ")
    if tokenizer == "words" and not any(map(_is_of_a_word, text)):
        raise BadText("a word or phrase needs a letter or a digit to look for")
    if len(text) < _LEAST[tokenizer]:
        raise BadText(
            f"a word needs {_LEAST[tokenizer]} characters, because this index looks for parts of words"
        )
    return Term(text, star)


def _is_of_a_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "Co"


def _why_not(rest: str) -> str:
    if rest.lstrip("-").startswith('"') and rest.count('"') < 2:
        return 'a quotation mark has no partner: "phrase"'
    return 'quotation marks stand around whole phrases, apart from other words: word "a phrase" prefix* -not'
