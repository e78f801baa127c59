"""A proof that a line is in a log (c2sp.org/tlog-proof), with the line itself as its extra data."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Final, NamedTuple

from app.proofs.note import BadNote, Checkpoint, open_note
from app.proofs.tree import included, leaf_hash

_HEAD: Final = "c2sp.org/tlog-proof@v1"


class Proof(NamedTuple):
    """The exact line, its number in the log from 0 on, the hashes up to the root, and the checkpoint of that root."""

    line: bytes
    leaf: int
    hashes: tuple[bytes, ...]
    note: str

    @property
    def text(self) -> str:
        """The proof as a file."""
        hashes = "".join(f"{b64encode(each).decode()}\n" for each in self.hashes)
        return f"{_HEAD}\nextra {b64encode(self.line).decode()}\nindex {self.leaf}\n{hashes}\n{self.note}"


def parse_proof(text: str) -> Proof:
    """The proof in a text, else `BadNote`; nothing in it is believed before `check`."""
    head, _, rest = text.partition("\n")
    body, blank, note = rest.partition("\n\n")
    lines = body.split("\n")
    extra, index = (lines[0], lines[1]) if len(lines) > 1 else ("", "")
    if head != _HEAD or not blank or not extra.startswith("extra ") or not index.startswith("index "):
        raise BadNote(f"this is no proof: expected {_HEAD}, extra, index, hashes and a checkpoint")
    try:
        hashes = tuple(b64decode(line, validate=True) for line in lines[2:])
        return Proof(b64decode(extra[6:], validate=True), int(index[6:]), hashes, note)
    except ValueError:
        raise BadNote("this is no proof: its numbers and hashes cannot be read") from None


def check(proof: Proof, public: bytes) -> Checkpoint:
    """The checkpoint under which the line was signed, else `BadNote`."""
    checkpoint = open_note(proof.note, public)
    root = included(leaf_hash(proof.line), proof.leaf, checkpoint.size, proof.hashes)
    if root != checkpoint.root:
        raise BadNote("the line is not in the tree of the checkpoint")
    return checkpoint
