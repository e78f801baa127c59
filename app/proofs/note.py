"""Signed notes and checkpoints (c2sp.org/signed-note, c2sp.org/tlog-checkpoint), with Ed25519 keys.

A checkpoint says: the log `origin` had `size` lines, this was the root over them, and (in lines of our own) when it
was signed and before which byte the lines end. The name of the key is the origin.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Final, NamedTuple

from app.errors import FactsError

SEED_BYTES: Final = 32
_ED25519: Final = b"\x01"
_KEY_ID_BYTES: Final = 4
_SIGNATURE: Final = re.compile("— ([^ +\n]+) ([A-Za-z0-9+/]+={0,2})")
_VERIFIER: Final = re.compile("[^ +]+\\+[0-9a-f]{8}\\+([A-Za-z0-9+/]+={0,2})")
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,17}", re.ASCII)


class BadNote(FactsError, ValueError):
    """The text is no checkpoint, or not one of this key; the message says which."""


class Checkpoint(NamedTuple):
    """What is signed; `position` and `time` are None where another hand left them out."""

    origin: str
    size: int
    root: bytes
    position: int | None
    time: str | None


class SigningKey:
    """The private half; nothing here shows it."""

    def __init__(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # takes its time

        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    def sign(self, checkpoint: Checkpoint) -> str:
        """The whole signed note."""
        text = _text(checkpoint)
        signature = key_id(checkpoint.origin, self.public) + self._key.sign(text.encode())
        return f"{text}\n— {checkpoint.origin} {b64encode(signature).decode()}\n"


def open_note(note: str, public: bytes) -> Checkpoint:
    """The checkpoint in a note that this key has signed, else `BadNote`; signatures of others do no harm."""
    text, blank, signatures = note.rpartition("\n\n")
    if not blank:
        raise BadNote("this is no signed note")
    text += "\n"
    checkpoint = _parse(text)
    wanted = key_id(checkpoint.origin, public)
    for line in signatures.splitlines():
        matched = _SIGNATURE.fullmatch(line)
        if matched is None:
            raise BadNote("this is no signed note")
        if matched[1] == checkpoint.origin and _is_signed(text, _bytes(matched[2]), wanted, public):
            return checkpoint
    raise BadNote("the signature is not one of this key")


def key_id(name: str, public: bytes) -> bytes:
    """The four bytes before a signature that tell whose it is."""
    return sha256(f"{name}\n".encode() + _ED25519 + public).digest()[:_KEY_ID_BYTES]


def verifier_key(name: str, public: bytes) -> str:
    """The public key as tools for signed notes take it: `name+id+key`."""
    return f"{name}+{key_id(name, public).hex()}+{b64encode(_ED25519 + public).decode()}"


def public_key(text: str) -> bytes:
    """The 32 bytes of a public key in base64, or of a verifier key; else `BadNote`."""
    verifier = _VERIFIER.fullmatch(text.strip())
    data = _bytes(verifier[1] if verifier else text.strip())
    if len(data) == SEED_BYTES + 1 and data[:1] == _ED25519:
        return data[1:]
    if len(data) != SEED_BYTES:
        raise BadNote("expected an Ed25519 public key: 32 bytes in base64, or name+id+key")
    return data


def _text(checkpoint: Checkpoint) -> str:
    lines = [checkpoint.origin, str(checkpoint.size), b64encode(checkpoint.root).decode()]
    if checkpoint.position is not None:
        lines.append(f"bytes {checkpoint.position}")
    if checkpoint.time is not None:
        lines.append(f"time {checkpoint.time}")
    return "".join(f"{line}\n" for line in lines)


def _parse(text: str) -> Checkpoint:
    origin, *rest = text.removesuffix("\n").split("\n")
    if not origin or len(rest) < 2 or not _NUMBER.fullmatch(rest[0]):
        raise BadNote("this is no checkpoint: expected an origin, a size and a root")
    root = _bytes(rest[1])
    if len(root) != SEED_BYTES:
        raise BadNote("this is no checkpoint: the root is a SHA-256 hash in base64")
    more = dict(line.partition(" ")[::2] for line in rest[2:])
    position = more.get("bytes")
    is_number = position is not None and _NUMBER.fullmatch(position)
    return Checkpoint(
        origin, int(rest[0]), root, int(position) if position and is_number else None, more.get("time")
    )


def _is_signed(text: str, signature: bytes, wanted: bytes, public: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature[:_KEY_ID_BYTES] != wanted:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature[_KEY_ID_BYTES:], text.encode())
    except InvalidSignature:
        return False
    return True


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadNote("expected base64") from None
