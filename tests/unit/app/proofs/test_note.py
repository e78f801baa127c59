"""Signed notes and checkpoints: what is signed, who signed it, and everything that is none."""

from __future__ import annotations

from base64 import b64encode

import pytest

from app.proofs.note import BadNote, Checkpoint, SigningKey, key_id, open_note, public_key, verifier_key

KEY = SigningKey(b"\x07" * 32)
OTHER = SigningKey(b"\x08" * 32)
CHECKPOINT = Checkpoint("facts-mcp/p/claims", 12, b"r" * 32, 3456, "2026-09-22T08:14:03.000000Z")
NOTE = KEY.sign(CHECKPOINT)


def test_a_note_has_the_lines_of_a_checkpoint_and_one_signature() -> None:
    lines = NOTE.split("\n")

    assert lines[:6] == [
        "facts-mcp/p/claims",
        "12",
        b64encode(b"r" * 32).decode(),
        "bytes 3456",
        "time 2026-09-22T08:14:03.000000Z",
        "",
    ]
    assert lines[6].startswith("— facts-mcp/p/claims ")
    assert lines[7:] == [""]


def test_what_was_signed_comes_out() -> None:
    assert open_note(NOTE, KEY.public) == CHECKPOINT


def test_a_checkpoint_of_another_hand_needs_no_lines_of_ours() -> None:
    plain = CHECKPOINT._replace(position=None, time=None)

    assert open_note(KEY.sign(plain), KEY.public) == plain


def test_a_second_signature_does_no_harm() -> None:
    witness = OTHER.sign(CHECKPOINT._replace(origin="witness.example")).split("\n\n")[1]

    assert open_note(NOTE + witness, KEY.public) == CHECKPOINT


@pytest.mark.parametrize(
    "note",
    [
        pytest.param(OTHER.sign(CHECKPOINT), id="the key of somebody else"),
        pytest.param(NOTE.replace("\n12\n", "\n13\n"), id="another size"),
        pytest.param(NOTE.replace("bytes 3456", "bytes 3457"), id="another position"),
        pytest.param(NOTE.replace("time 2026", "time 2027"), id="another time"),
        pytest.param(NOTE.replace("facts-mcp/p/", "facts-mcp/q/"), id="another origin"),
        pytest.param(NOTE.replace("\n12\n", "\n012\n"), id="a size with a leading zero"),
        pytest.param(NOTE.replace(b64encode(b"r" * 32).decode(), "cnJy"), id="a root that is too short"),
        pytest.param(NOTE.replace(b64encode(b"r" * 32).decode(), "?"), id="a root that is no base64"),
        pytest.param(NOTE.split("\n\n")[0], id="no signature"),
        pytest.param(NOTE.replace("— ", "- "), id="another dash"),
        pytest.param("\n\n", id="nothing"),
        pytest.param("a\n\n— a YQ==\n", id="an origin alone"),
        pytest.param(NOTE[:-5] + "====\n", id="a signature that is no base64"),
    ],
)
def test_everything_else_is_no_checkpoint_of_this_key(note: str) -> None:
    with pytest.raises(BadNote):
        open_note(note, KEY.public)


def test_a_public_key_is_read_in_both_forms() -> None:
    verifier = verifier_key("facts-mcp/p/claims", KEY.public)

    assert public_key(verifier) == public_key(f" {b64encode(KEY.public).decode()}\n") == KEY.public
    assert verifier.split("+")[1] == key_id("facts-mcp/p/claims", KEY.public).hex()


@pytest.mark.parametrize("text", ["", "abc", "YWJj", b64encode(b"\x02" * 33).decode(), "name+zz+YWJj"])
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(BadNote):
        public_key(text)


def test_the_private_half_is_nowhere_in_what_is_shown() -> None:
    shown = f"{KEY!r} {KEY} {vars(KEY)}"

    assert b64encode(b"\x07" * 32).decode() not in shown
    assert "\\x07" not in shown.replace(repr(KEY.public), "")
