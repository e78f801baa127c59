"""Self-examination: settings, profile, registry, clock and kernel, as one line a check."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from app import VERSION
from app.clock import utc_text
from app.errors import StoreError

if TYPE_CHECKING:
    from app.main import Application
    from app.store.file import FileLog

TIME_ERROR = 5  # adjtimex(2): the clock is not synchronised
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_VERSION = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `ok` is True, False, or None where nothing can be said."""

    name: str
    detail: str
    ok: bool | None = True

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def examine(application: Application) -> list[Check]:
    """Every check, in the order of the page; writes nothing but what a first start would write."""
    settings = application.settings
    return [
        Check("version", f"facts-mcp {VERSION}, Python {platform.python_version()}, {sys.platform}"),
        Check("settings", f"read from the environment; transport {settings.transport}"),
        Check("profile", application.policy_sentence),
        *(Check("policy warning", text, ok=None) for text in application.policy.warnings),
        *registry_checks(settings.data_dir, application.log, needs_mount=settings.data_mount == "require"),
        *index_checks(settings.data_dir, settings.text_index),
        signing_check(application),
        clock_check(application.clock.wall_ns()),
        *kernel_checks(),
    ]


def render(checks: list[Check]) -> str:
    """The checks for a terminal."""
    marks = {True: "ok", False: "WRONG", None: "note"}
    return "".join(f"{marks[check.ok]:>5}  {check.name:<16} {check.detail}\n" for check in checks)


def clock_check(now_ns: int) -> Check:
    """Whether the kernel holds its clock for synchronised (adjtimex), and by how much it may be off."""
    try:
        adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return Check("clock", "this system does not say whether its clock is synchronised", ok=None)
    words = (ctypes.c_long * 64)()  # struct timex: modes, offset, freq, maxerror, esterror, …
    state = adjtimex(ctypes.byref(words))
    if state < 0:
        return Check("clock", f"the kernel does not tell (errno {ctypes.get_errno()})", ok=None)
    synced = state != TIME_ERROR
    text = "synchronised" if synced else "not synchronised"
    detail = f"{text} by the kernel's account, error at most {words[3]} us; now {utc_text(now_ns)}"
    return Check("clock", detail, ok=True if synced else None)


def kernel_checks() -> Iterator[Check]:
    """What the kernel offers to measuring and to the sandbox."""
    yield Check("kernel", f"{platform.system()} {platform.release()} {platform.machine()}")
    landlock = _landlock()
    text = f"ABI {landlock}" if landlock > 0 else "not available"
    yield Check("landlock", text, ok=True if landlock > 0 else None)
    yield Check("fdatasync", "durable appends", ok=hasattr(os, "fdatasync") or None)


def registry_checks(data_dir: str, log: FileLog, *, needs_mount: bool) -> Iterator[Check]:
    """The data directory, and the lock and the logs of each project; reads everything, writes nothing."""
    from app.store.directory import projects_of
    from app.store.examine import examine_directory

    found = examine_directory(data_dir)
    if not found.exists:
        yield _to_be_made(found.path)
        return
    free = "" if found.free_bytes is None else f", {found.free_bytes // 1_000_000} MB free"
    mount = "a mount of its own" if found.mount else "no mount of its own"
    ok = found.writable and (found.mount or not needs_mount)
    yield Check("data directory", f"{found.path}, {mount}{free}", ok=ok)
    for project in projects_of(data_dir):
        yield from _project_checks(data_dir, log, project)


def index_checks(data_dir: str, tokenizer: str) -> Iterator[Check]:
    """How the index of each project is kept; one that is missing is made by the first query."""
    from app.store.directory import projects_of
    from app.store.index_file import examine_index

    kept = {"wal": "with a write-ahead log", "rollback": "with a rollback journal", "memory": "in memory"}
    for project in projects_of(data_dir):
        size, keeping = examine_index(data_dir, project, tokenizer)
        text = "none yet" if size is None else f"{size} bytes"
        yield Check(
            f"{project}/index", f"{text}; kept {kept[keeping]}", ok=True if keeping == "wal" else None
        )


def signing_check(application: Application) -> Check:
    """The public key of checkpoints, for whoever is to check them; looking makes none."""
    settings = application.settings
    if settings.signing_key_file is None and not os.path.exists(
        os.path.join(settings.data_dir, "keys", "signing")
    ):
        return Check("signing key", "none yet; it is made with the first checkpoint", ok=None)
    try:
        public = application.signing_key().public
    except (StoreError, OSError, ValueError) as error:
        return Check("signing key", str(error), ok=False)
    return Check("signing key", f"public key {b64encode(public).decode()} (Ed25519)")


def _project_checks(data_dir: str, log: FileLog, project: str) -> Iterator[Check]:
    from app.store.examine import examine_lock, examine_project

    try:
        lock = examine_lock(data_dir, project)
        states = examine_project(log, project)
    except StoreError as error:
        yield Check(project, error.message, ok=False)
        return
    yield Check(f"{project}/lock", lock.state, ok=lock.state != "unusable")
    for state in states:
        if state.last_seq is not None or state.damaged:
            detail = f"{state.records} lines, {state.damaged} damaged, last seq {state.last_seq}"
            yield Check(f"{project}/{state.log}", detail, ok=None if state.damaged else True)
        for damage in state.damage:
            text = f"{damage.reason}: {damage.file} at byte {damage.offset}, {damage.length} bytes"
            yield Check(f"{project}/damage", f"{text}; it stays, and is served around", ok=None)


def _to_be_made(path: str) -> Check:
    """A directory that the first measurement makes, where it can."""
    above = os.path.dirname(path)
    while not os.path.exists(above):
        above = os.path.dirname(above)
    if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) and os.statvfs(above).f_files:
        return Check("data directory", f"{path} does not exist yet; the first measurement makes it", ok=None)
    return Check("data directory", f"{path} does not exist and cannot be made in {above}", ok=False)


def _landlock() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    call = ctypes.CDLL(None, use_errno=True).syscall
    return int(call(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(LANDLOCK_VERSION)))
