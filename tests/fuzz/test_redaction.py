"""The replayed corpus of redaction: what must lose its secret, and what must stay as it is, byte for byte."""

from __future__ import annotations

import base64
import json
import pathlib

import pytest

from app.redact import Redactor

CORPUS = pathlib.Path(__file__).parent / "redaction"
MASKED: list[str] = json.loads((CORPUS / "masked.json").read_text())
UNCHANGED: list[str] = json.loads((CORPUS / "unchanged.json").read_text())
CANARY = "Zq7CANARYx9Kd2Lm"
REDACTOR = Redactor(b"a key of the corpus")


def survives(text: str) -> bool:
    """Whether the canary is still there, as it is or as the password of Basic credentials."""
    return CANARY in text or base64.b64encode(f"user:{CANARY}".encode()).decode() in text


@pytest.mark.parametrize("text", MASKED)
def test_a_string_of_the_corpus_loses_its_secret(text: str) -> None:
    redacted = REDACTOR.text(text)

    assert not survives(redacted)
    assert "[redacted:" in redacted
    assert REDACTOR.text(redacted) == redacted


@pytest.mark.parametrize("text", MASKED)
def test_a_string_of_the_corpus_loses_its_secret_as_a_utf_16_body(text: str) -> None:
    redacted = REDACTOR.body(b"\xff\xfe" + text.encode("utf-16-le"))

    assert not survives(redacted.decode("utf-16"))


@pytest.mark.parametrize("text", UNCHANGED)
def test_an_innocent_string_of_the_corpus_is_unchanged(text: str) -> None:
    assert REDACTOR.text(text) == text
    assert REDACTOR.url(text) == text or "@" in text
    assert REDACTOR.value({"statement": [text]}) == {"statement": [text]}
    assert REDACTOR.body(text.encode()) == text.encode()
