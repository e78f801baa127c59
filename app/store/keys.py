"""Keys that live in the data directory: made on first use, the same for every server that shares it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from app.errors import StoreError
from app.store.directory import DataDirectory, Mount, closing, open_file
from app.store.faults import storage_error
from app.store.files import Files, read_exactly

KEY_BYTES: Final = 32
_PEM_BYTES: Final = 16 * 1024

_TEMPORARY_NAME_BYTES: Final = 8


def load_or_create_key(
    data_dir: str,
    *,
    name: str = "redaction",
    mount: Mount = "any",
    files: Files | None = None,
    randomness: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """The 32 bytes of `keys/<name>`; when many servers start at once, one of them makes it and all return it.

    Raises `StoreError` for a key that cannot be read or is not 32 bytes long: a new one would silently change
    every mask or signature, so that is the operator's to decide.
    """
    device = files or Files()
    root = DataDirectory(data_dir, device, mount)
    place = root.place("keys", name)
    try:
        with closing(device, root.made("keys")) as directory:
            try:
                return _read(device, name, directory, place)
            except FileNotFoundError:
                _create(device, name, directory, randomness)
                return _read(device, name, directory, place)
    except OSError as error:
        raise storage_error(error, place) from error


def _read(files: Files, name: str, directory: int, place: str) -> bytes:
    with closing(files, open_file(files, name, os.O_RDONLY, directory, place)) as descriptor:
        key = read_exactly(files, descriptor, KEY_BYTES + 1, 0)
    if len(key) != KEY_BYTES:
        raise StoreError("io", f"{place} does not have the {KEY_BYTES} bytes of a key")
    return key


def _create(files: Files, name: str, directory: int, randomness: Callable[[int], bytes]) -> None:
    """Write the key under a name of its own and link it: nobody ever sees a part of a key."""
    temporary = f".{name}.{randomness(_TEMPORARY_NAME_BYTES).hex()}"
    descriptor = files.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, parent=directory)
    try:
        with closing(files, descriptor):
            files.chmod(descriptor, 0o600)
            if files.write(descriptor, randomness(KEY_BYTES)) < KEY_BYTES:
                raise StoreError("no_space", f"keys/{name} could not be written whole")
            files.fsync(descriptor)
        with suppress(FileExistsError):  # another server was faster, and its key is the key
            files.link(temporary, name, directory)
    finally:
        files.unlink(temporary, directory)
    files.fsync(directory)


def read_seed(path: str) -> bytes:
    """The 32 bytes of an Ed25519 key that lives elsewhere: as they are, or in a private key in PEM.

    Raises OSError, and ValueError without a word of the content.
    """
    with open(path, "rb") as file:
        content = file.read(_PEM_BYTES)
    if len(content) == KEY_BYTES:
        return content
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    with suppress(ValueError, TypeError):
        key = load_pem_private_key(content, None)
        if isinstance(key, Ed25519PrivateKey):
            return key.private_bytes_raw()
    raise ValueError("expected 32 bytes, or an Ed25519 private key in PEM without a password")
