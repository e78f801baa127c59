"""When a log is signed, by a clock that the test steers; and that nobody waits for it."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest

from app.clock import SystemClock
from app.errors import StoreError
from app.proofs.note import SigningKey
from app.records.codec import Record, body
from app.records.events import Asserted, Checkpointed
from app.store.file import FileLog
from app.store.log import Damage, Line, LogName
from app.store.notary import LINES, Notary
from app.store.scripted import ScriptedFiles
from app.store.signer import Signer

KEY = SigningKey(b"\x07" * 32)
MINUTE_NS = 60 * 10**9


class SteeredClock(SystemClock):
    """Time passes when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns


class Recorder(Signer):
    """Signs nothing, and remembers what it was asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.error = error

    def sign(self, project: str, log: object, to: object) -> None:
        self.asked.append((project, str(log)))
        if self.error is not None:
            raise self.error


def notary(clock: SteeredClock, error: Exception | None = None) -> tuple[Notary, Recorder, list[Damage]]:
    signer, damage = Recorder(error), list[Damage]()
    made = Notary(signer, None, clock, damage.append)  # type: ignore[arg-type]  # nothing is appended
    made._thread = made  # type: ignore[assignment]  # the test is the thread
    return made, signer, damage


def claim(log: FileLog, count: int = 1, project: str = "p") -> None:
    async def together() -> None:
        line = body(Asserted("s", [], "me", []))
        await asyncio.gather(*(log.append(project, "claims", "c", line) for _ in range(count)))

    asyncio.run(together())


def signed(log: FileLog) -> list[tuple[str, int]]:
    records = [line.record for line in log.read("p", "checkpoints") if isinstance(line, Line)]
    events = [record.event for record in records if isinstance(record, Record)]
    return [(event.log, event.size) for event in events if isinstance(event, Checkpointed)]


def test_a_thousand_lines_are_due_at_once() -> None:
    clock = SteeredClock()
    made, signer, _damage = notary(clock)
    made.wrote("p", "claims", LINES - 1, 6 * LINES - 1)
    made.wrote("q", "claims", 1, 1)
    before = made.due(clock.now_ns)
    made.wrote("p", "claims", 1, 6 * LINES + 1)

    assert (before, made.due(clock.now_ns)) == ([], [("p", "claims")])
    made.sign_due()
    assert (signer.asked, made.due(clock.now_ns)) == ([("p", "claims")], [])


@pytest.mark.parametrize(
    ("lines", "last", "is_due"),
    [
        (1, LINES, True),
        (1, LINES - 1, False),
        (1, LINES + 1, False),
        (10, 3 * LINES + 4, True),
        (5, 3 * LINES + 5, False),
    ],
)
def test_whoever_writes_a_thousandth_line_signs_at_once(lines: int, last: int, *, is_due: bool) -> None:
    clock = SteeredClock()
    made, _signer, _damage = notary(clock)
    made.wrote("p", "claims", lines, last)

    assert (made.due(clock.now_ns) == [("p", "claims")]) is is_due


def test_news_are_due_after_ten_minutes() -> None:
    clock = SteeredClock()
    made, _signer, _damage = notary(clock)
    made.wrote("p", "observations", 1, 1)

    assert made.due(clock.now_ns + 10 * MINUTE_NS - 1) == []
    assert made.due(clock.now_ns + 10 * MINUTE_NS) == [("p", "observations")]


def test_it_waits_until_the_oldest_news_are_due() -> None:
    clock = SteeredClock()
    made, _signer, _damage = notary(clock)
    pauses = [made._pause()]
    made.wrote("p", "claims", 1, 1)
    clock.now_ns += 4 * MINUTE_NS
    made.wrote("q", "claims", 1, 1)
    pauses.append(made._pause())
    clock.now_ns += 7 * MINUTE_NS

    assert [*pauses, made._pause()] == [None, 360.0, 0.0]


def test_checkpoints_are_no_news() -> None:
    made, _signer, _damage = notary(SteeredClock())
    made.wrote("p", "checkpoints", 5000, 5000)

    assert made.due(100 * MINUTE_NS) == []


@pytest.mark.parametrize(
    "error",
    [
        StoreError("no_space", "the device is full"),
        OSError(errno.EIO, "the device failed"),
        ValueError("a key that is none"),
    ],
)
def test_what_cannot_be_signed_is_reported_and_tried_again(error: Exception) -> None:
    clock = SteeredClock()
    made, signer, damage = notary(clock, error)
    made.wrote("p", "claims", LINES, LINES)
    made.sign_due()

    assert damage == [Damage("projects/p/logs/claims.jsonl", 0, 0, "unsigned", str(error))]
    assert made.due(clock.now_ns) == []
    assert made.due(clock.now_ns + 10 * MINUTE_NS) == [("p", "claims")]
    assert signer.asked == [("p", "claims")]


def test_a_log_whose_sync_failed_is_not_signed_before_the_next_start() -> None:
    made, _signer, _damage = notary(SteeredClock())
    made.wrote("p", "claims", LINES, LINES)
    made.could_not_sync("p", "claims")
    made.could_not_sync("p", "checkpoints")
    made.wrote("p", "claims", LINES, LINES)

    assert made.due(100 * MINUTE_NS) == []


def test_the_end_of_a_server_signs_its_news(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SystemClock(), key=lambda: KEY)
    claim(log, 3)
    before = signed(log)
    log.close()

    assert (before, signed(log)) == ([], [("claims", 3)])


def test_a_thousand_lines_are_signed_while_the_server_runs(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SystemClock(), key=lambda: KEY)
    for _ in range(4):
        claim(log, LINES // 2)
    log.close()

    sizes = [size for _log, size in signed(log)]
    assert sizes == sorted(set(sizes))
    assert (sizes[0] >= LINES, sizes[-1]) == (True, 2 * LINES)


def test_a_server_without_a_key_signs_nothing(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SystemClock())
    claim(log, LINES)
    log.close()

    assert signed(log) == []


def test_a_key_that_cannot_be_had_fails_no_append(tmp_path: Path) -> None:
    def no_key() -> SigningKey:
        raise StoreError("io", "keys/signing does not have the 32 bytes of a key")

    damage: list[Damage] = []
    log = FileLog(str(tmp_path), SystemClock(), key=no_key, report=damage.append)
    claim(log, 3)
    log.close()

    file = "projects/p/logs/claims.jsonl"
    assert damage == [Damage(file, 0, 0, "unsigned", "keys/signing does not have the 32 bytes of a key")]
    assert len(list(log.read("p", "claims"))) == 3


def test_nothing_is_signed_that_could_not_be_synced(tmp_path: Path) -> None:
    files = ScriptedFiles(fdatasync=[None, OSError(errno.EIO, "the device failed")])
    log = FileLog(str(tmp_path), SystemClock(), files=files, key=lambda: KEY)
    claim(log)
    with pytest.raises(StoreError):
        claim(log)
    log.close()

    assert signed(log) == []


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path), SystemClock(), key=lambda: KEY)
    claim(log)
    log.close()
    log.close()

    assert signed(log) == [("claims", 1)]


def test_only_logs_with_lines_of_this_server_are_signed(tmp_path: Path) -> None:
    first = FileLog(str(tmp_path), SystemClock())
    claim(first)
    first.close()
    second = FileLog(str(tmp_path), SystemClock(), key=lambda: KEY)
    logs: tuple[LogName, ...] = ("observations", "claims")
    for name in logs:
        list(second.read("p", name))
    second.close()

    assert signed(second) == []
