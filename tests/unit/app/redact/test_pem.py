"""Private keys, whole and in pieces."""

from __future__ import annotations

import pytest

from app.redact.pem import is_fragment, leaves_a_key_open, private_keys

LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
BEGIN = "-----BEGIN RSA PRIVATE KEY-----"
END = "-----END RSA PRIVATE KEY-----"

KEYS = {
    "whole": (f"a\n{BEGIN}\n{LINE}\nAb=\n{END}\nb", [f"{BEGIN}\n{LINE}\nAb=\n{END}"]),
    "two": (f"{BEGIN}\n{LINE}\n{END}\n{BEGIN}\n{LINE}\n{END}", [f"{BEGIN}\n{LINE}\n{END}"] * 2),
    "without its end": (f"a\n{BEGIN}\n{LINE}\nAb", [f"{BEGIN}\n{LINE}\nAb"]),
    "encrypted, without its end": (
        f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n{LINE}\n-- ",
        [f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n{LINE}\n"],
    ),
    "without its beginning": (f"Ab\n{LINE}\n{END}\nb", [f"Ab\n{LINE}\n{END}"]),
    "indented, without its beginning": (f"  Ab\n  {LINE}\n  {END}", [f"  Ab\n  {LINE}\n  {END}"]),
    "only its end on a line with it": (f"Ab={END}", [f"Ab={END}"]),
    "a cut one before a whole one": (
        f"{BEGIN}\n{LINE}\n{BEGIN}\nAb\n{END}",
        [f"{BEGIN}\n{LINE}\n", f"{BEGIN}\nAb\n{END}"],
    ),
    "fragments after its beginning": (f'"{BEGIN}"\n"{LINE}"\n"Ab"', [LINE]),
    "fragments before its end": (f'"Ab"\n"{LINE}"\n"{END}"', [LINE]),
    "on one line, without its end": (f"{BEGIN} {LINE} Ab", [LINE]),
    "of PGP": ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nAb\n-----END PGP PRIVATE KEY BLOCK-----", None),
    "of SSH2": (
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAb\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        None,
    ),
    "an end after a whole one": (
        f"{BEGIN}\nAb\n{END}\nx y\n{LINE}\n{END}",
        [f"{BEGIN}\nAb\n{END}", f"{LINE}\n{END}"],
    ),
}


@pytest.mark.parametrize(("text", "keys"), KEYS.values(), ids=KEYS)
def test_a_private_key_is_found(text: str, keys: list[str] | None) -> None:
    assert [text[span.start : span.end] for span in private_keys(text)] == (keys or [text])


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN CERTIFICATE-----\n{LINE}\n-----END CERTIFICATE-----",
        f"-----BEGIN PUBLIC KEY-----\n{LINE}\n-----END PUBLIC KEY-----",
        f"{BEGIN} is how it begins.",
        f"it ends with {END}",
        "PRIVATE KEY",
        LINE,
    ],
)
def test_what_is_public_or_prose_is_no_private_key(text: str) -> None:
    assert list(private_keys(text)) == []


@pytest.mark.parametrize("text", [LINE, f"{LINE}\\n", f" {LINE}\n{LINE}==\n"])
def test_base64_in_both_cases_is_a_fragment(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text", ["MIIEvQIB", "a" * 40, "A" * 40, "e3b0c44298fc1c149afbf4c8996fb924", "Some words, and more"]
)
def test_words_digests_and_short_texts_are_no_fragments(text: str) -> None:
    assert not is_fragment(text)


OPEN = {
    "its marker alone": (BEGIN, True),
    "its marker and a line": (f"x {BEGIN}\\n{LINE}\n", True),
    "a key that ends": (f"{BEGIN}\n{LINE}\n{END}", False),
    "a key with something after it": (f'{BEGIN}\n{LINE}"}}', False),
    "no key": (LINE, False),
}


@pytest.mark.parametrize(("text", "is_open"), OPEN.values(), ids=OPEN)
def test_a_text_leaves_a_key_open_only_with_it_at_its_end(text: str, *, is_open: bool) -> None:
    assert leaves_a_key_open(text) is is_open
