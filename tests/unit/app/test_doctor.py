"""Self-examination: what is said of an empty, a healthy and a damaged registry, of the clock and the kernel."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.doctor import (
    Check,
    clock_check,
    examine,
    index_checks,
    kernel_checks,
    registry_checks,
    render,
    signing_check,
)
from app.main import Application
from app.settings import Settings
from app.store.file import FileLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[FileLog]:
    log = FileLog(str(tmp_path), SystemClock())
    yield log
    log.close()


def registry(tmp_path: Path, log: FileLog, *, needs_mount: bool = False) -> dict[str, Check]:
    checks = registry_checks(str(tmp_path), log, needs_mount=needs_mount)
    return {check.name: check for check in checks}


def append(log: FileLog) -> None:
    asyncio.run(log.append("shop", "observations", "o", b'{"type":"measured"}'))


def test_a_directory_that_is_not_there_yet_is_no_fault(tmp_path: Path, log: FileLog) -> None:
    checks = registry(tmp_path / "new", log)

    assert checks["data directory"].ok is None
    assert not (tmp_path / "new").exists()


def test_a_directory_that_cannot_be_made_is_found(tmp_path: Path, log: FileLog) -> None:
    (tmp_path / "file").write_text("")

    assert registry(tmp_path / "file/data", log)["data directory"].ok is False


def test_a_missing_mount_is_found_where_one_is_required(tmp_path: Path, log: FileLog) -> None:
    assert registry(tmp_path, log)["data directory"].ok is True
    assert registry(tmp_path, log, needs_mount=True)["data directory"].ok is False


def test_damage_in_the_middle_is_shown_with_its_place(tmp_path: Path, log: FileLog) -> None:
    append(log)
    path = tmp_path / "projects/shop/logs/observations.jsonl"
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"garbage\n")

    checks = registry(tmp_path, log)

    assert checks["shop/observations"].ok is None
    assert f"logs/observations.jsonl at byte {size}, 7 bytes" in checks["shop/damage"].detail


def test_a_lock_that_nobody_holds_is_free(tmp_path: Path, log: FileLog) -> None:
    append(log)

    assert registry(tmp_path, log)["shop/lock"].detail == "free"


def test_a_registry_that_cannot_be_read_is_wrong_and_says_why(tmp_path: Path, log: FileLog) -> None:
    (tmp_path / "projects/shop").mkdir(parents=True)
    (tmp_path / "projects/shop/lock").symlink_to(tmp_path)

    assert registry(tmp_path, log)["shop"].ok is False


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path))
    made = Application(Settings())
    yield made
    made.close()


def test_the_index_of_each_project_is_described(tmp_path: Path, application: Application) -> None:
    assert list(index_checks(str(tmp_path), "words")) == []

    claim = {"project": "shop", "statement": "it answers", "observed_by": "anna"}
    asyncio.run(application.call("facts.recall.assert", claim))
    asyncio.run(application.call("facts.recall.query", {"project": "shop"}))
    (check,) = index_checks(str(tmp_path), "words")
    (other,) = index_checks(str(tmp_path), "trigram")

    assert check.name == "shop/index"
    assert check.detail.endswith(" bytes; kept with a write-ahead log")
    assert other.detail.startswith("none yet; ")


def test_the_public_key_is_told_and_looking_makes_none(tmp_path: Path, application: Application) -> None:
    before = signing_check(application)

    assert (before.ok, list(tmp_path.iterdir())) == (None, [])

    public = b64encode(application.signing_key().public).decode()

    assert signing_check(application) == Check("signing key", f"public key {public} (Ed25519)")


def test_a_key_that_is_none_is_wrong(tmp_path: Path, application: Application) -> None:
    application.signing_key()
    (tmp_path / "keys/signing").write_bytes(b"short")

    assert signing_check(application).ok is False


def test_the_clock_is_described_without_a_judgement() -> None:
    check = clock_check(0)

    assert check.ok in (True, None)
    assert "now 1970-01-01T00:00:00.000000Z" in check.detail or "not" in check.detail


def test_the_kernel_is_described() -> None:
    assert [check.name for check in kernel_checks()] == ["kernel", "landlock", "fdatasync"]


def test_every_part_of_an_installation_is_looked_at(application: Application) -> None:
    names = [check.name for check in examine(application)]

    assert names[:4] == ["version", "settings", "profile", "data directory"]
    assert names[4:6] == ["signing key", "clock"]


def test_the_lines_name_what_is_wrong() -> None:
    checks = [Check("a", "fine"), Check("b", "odd", ok=None), Check("c", "bad", ok=False)]

    assert render(checks).split() == ["ok", "a", "fine", "note", "b", "odd", "WRONG", "c", "bad"]
    assert checks[2].as_dict() == {"name": "c", "detail": "bad", "ok": False}
