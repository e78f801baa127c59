"""Keys: made once, the same for all, never guessed at."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from app.errors import StoreError
from app.store.keys import load_or_create_key, read_seed
from app.store.scripted import ScriptedFiles, Step

ROOT = Path(__file__).parents[4]


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    first = load_or_create_key(str(tmp_path))

    assert len(first) == 32
    assert load_or_create_key(str(tmp_path)) == first
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["redaction"]
    assert stat.S_IMODE((tmp_path / "keys" / "redaction").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_each_name_is_a_key_of_its_own(tmp_path: Path) -> None:
    assert load_or_create_key(str(tmp_path)) != load_or_create_key(str(tmp_path), name="signing")


def test_eight_processes_at_once_get_the_same_key(tmp_path: Path) -> None:
    program = "import sys; from app.store.keys import load_or_create_key as k; print(k(sys.argv[1]).hex())"
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]

    keys = {process.communicate(timeout=60)[0] for process in running}

    assert keys == {load_or_create_key(str(tmp_path)).hex() + "\n"}
    assert [process.returncode for process in running] == [0] * 8


def test_the_key_of_a_faster_server_is_the_key(tmp_path: Path) -> None:
    class Overtaken(ScriptedFiles):
        def link(self, name: str, new_name: str, parent: int) -> None:
            (tmp_path / "keys" / new_name).write_bytes(b"k" * 32)
            super().link(name, new_name, parent)

    assert load_or_create_key(str(tmp_path), files=Overtaken()) == b"k" * 32
    assert len(list((tmp_path / "keys").iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"k" * 31, b"k" * 33])
def test_a_file_of_another_length_is_no_key_and_stays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "redaction").write_bytes(content)

    with pytest.raises(StoreError, match="32 bytes"):
        load_or_create_key(str(tmp_path))

    assert (tmp_path / "keys" / "redaction").read_bytes() == content


@pytest.mark.parametrize("name", ["keys", "keys/redaction"])
def test_no_symbolic_link_is_followed_to_a_key(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "there"
    if name == "keys":
        outside.mkdir()
    else:
        (tmp_path / "keys").mkdir()
        outside.write_bytes(b"k" * 32)
    (tmp_path / name).symlink_to(outside)

    with pytest.raises(StoreError) as failure:
        load_or_create_key(str(tmp_path))

    assert failure.value.reason == "symlink"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param({"write": [OSError(errno.ENOSPC, "full")]}, "no_space", id="no space"),
        pytest.param({"write": [31]}, "no_space", id="a short write"),
        pytest.param({"fsync": [None, OSError(errno.EIO, "broken")]}, "io", id="a failed sync"),
        pytest.param({"link": [OSError(errno.EPERM, "no links")]}, "permission", id="no links"),
        pytest.param({"open": [OSError(errno.EACCES, "no")]}, "permission", id="no access"),
    ],
)
def test_a_key_that_cannot_be_made_leaves_nothing_behind(
    tmp_path: Path, script: dict[str, Sequence[Step]], reason: str
) -> None:
    before = len(os.listdir("/proc/self/fd"))

    with pytest.raises(StoreError) as failure:
        load_or_create_key(str(tmp_path), files=ScriptedFiles(**script))

    assert failure.value.reason == reason
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_required_volume_must_be_there_for_a_key(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as failure:
        load_or_create_key(str(tmp_path), mount="require")

    assert failure.value.reason == "no_volume"


def pem(key: Ed25519PrivateKey, password: bytes | None = None) -> bytes:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def test_a_key_that_lives_elsewhere_is_read_as_bytes_and_as_pem(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
    (tmp_path / "raw").write_bytes(b"\x07" * 32)
    (tmp_path / "pem").write_bytes(pem(key))

    assert read_seed(str(tmp_path / "raw")) == read_seed(str(tmp_path / "pem")) == b"\x07" * 32


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"secret" * 6, id="another length"),
        pytest.param(pem(Ed25519PrivateKey.from_private_bytes(b"\x07" * 32), b"pw"), id="behind a password"),
        pytest.param(b"-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n", id="no PEM inside"),
        pytest.param(
            ec.generate_private_key(ec.SECP256R1()).private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
            ),
            id="a key of another kind",
        ),
    ],
)
def test_what_is_no_key_is_refused_without_a_word_of_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)

    with pytest.raises(ValueError, match="expected 32 bytes") as refused:
        read_seed(str(tmp_path / "key"))
    assert "secret" not in str(refused.value)
