"""Proofs of one line: the text, what it proves, and everything that proves nothing."""

from __future__ import annotations

from base64 import b64encode

import pytest

from app.proofs.note import BadNote, Checkpoint, SigningKey
from app.proofs.proof import Proof, check, parse_proof
from app.proofs.tree import leaf_hash, node_hash

KEY = SigningKey(b"\x07" * 32)
LINE, NEXT = b'{"a":1}', leaf_hash(b"next")
ROOT = node_hash(leaf_hash(LINE), NEXT)
CHECKPOINT = Checkpoint("facts-mcp/p/claims", 2, ROOT, 20, "2026-09-22T08:14:03.000000Z")
PROOF = Proof(LINE, 0, (NEXT,), KEY.sign(CHECKPOINT))


def test_the_text_of_a_proof_has_the_line_its_number_the_hashes_and_the_checkpoint() -> None:
    assert PROOF.text == (
        "c2sp.org/tlog-proof@v1\n"
        f"extra {b64encode(LINE).decode()}\n"
        "index 0\n"
        f"{b64encode(NEXT).decode()}\n"
        "\n"
        f"{PROOF.note}"
    )


def test_a_proof_read_back_is_the_same_and_holds() -> None:
    proof = parse_proof(PROOF.text)

    assert (proof, check(proof, KEY.public)) == (PROOF, CHECKPOINT)


def test_the_only_line_of_a_log_needs_no_hashes() -> None:
    alone = Proof(LINE, 0, (), KEY.sign(CHECKPOINT._replace(size=1, root=leaf_hash(LINE))))

    assert check(parse_proof(alone.text), KEY.public).size == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PROOF.text.replace("@v1", "@v2"), id="another version"),
        pytest.param(PROOF.text.replace("extra ", "other "), id="no line"),
        pytest.param(PROOF.text.replace("index 0", "index"), id="no number"),
        pytest.param(PROOF.text.replace("index 0", "index x"), id="a number that is none"),
        pytest.param(PROOF.text.replace(b64encode(NEXT).decode(), "?"), id="a hash that is none"),
        pytest.param(PROOF.text.replace("\n\n", "\n"), id="no checkpoint"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_text_that_is_no_proof_is_refused(text: str) -> None:
    with pytest.raises(BadNote, match="this is no proof"):
        parse_proof(text)


@pytest.mark.parametrize(
    "proof",
    [
        pytest.param(PROOF._replace(line=b'{"a":2}'), id="another line"),
        pytest.param(PROOF._replace(leaf=1), id="another number"),
        pytest.param(PROOF._replace(hashes=()), id="no hashes"),
        pytest.param(PROOF._replace(hashes=(ROOT,)), id="another hash"),
    ],
)
def test_a_proof_of_something_else_does_not_hold(proof: Proof) -> None:
    with pytest.raises(BadNote, match="not in the tree"):
        check(proof, KEY.public)
