"""A law of finding by id: whatever stands between the lines, and however they are parted, it is what a scan finds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.clock import SystemClock
from app.records.codec import BYTE_ORDER_MARK, body, line
from app.records.events import Measured
from app.records.ulid import ulid_text
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.locate import PROBE_BYTES, locate
from app.store.log import Line
from app.store.segments import open_segments

AT = "2026-09-22T08:14:03.000000Z"
BETWEEN = [
    b"",
    b"rubbish",
    b"{}",
    b'{"v":2}',
    b"\0" * 700,
    b"\xef\xbb\xbf",
    b"x" * (2 * PROBE_BYTES),
    b'{"v":1,"seq":1,"id":"o_',
    b'{"v":1,"type":"unheard"}',
    b'{"v":1,"seq":1,"id":"o_' + ulid_text(3).encode(),
]


def good(number: int, size: int) -> bytes:
    event = Measured("t", {"pad": "x" * size}, AT, None, True, None)
    return line(number, f"o_{ulid_text(number)}", AT, body(event))[:-1]


numbers = st.lists(st.integers(1, 60), unique=True, max_size=20).map(sorted)
sizes = st.sampled_from([0, 0, 1, 100, 3000, PROBE_BYTES, 3 * PROBE_BYTES])


@st.composite
def contents(draw: st.DrawFn) -> list[bytes]:
    """The files of a log, in order."""
    files, current = [], b""
    for number in draw(numbers):
        for piece in draw(st.lists(st.sampled_from(BETWEEN), max_size=3)):
            current += piece + b"\n"
        current += good(number, draw(sizes)) + b"\n"
        if draw(st.integers(0, 4)) == 0:
            files.append(current[: draw(st.sampled_from([None, None, None, -1]))])
            current = draw(st.sampled_from([b"", b"", BYTE_ORDER_MARK]))
    ending = draw(st.sampled_from([b"", *BETWEEN]))
    return [*files, current + ending if draw(st.booleans()) else current[:-1]]


@given(contents(), st.integers(0, 1))
def test_finding_by_id_finds_what_a_scan_finds(files: list[bytes], gone: int) -> None:
    with tempfile.TemporaryDirectory() as path:
        logs = Path(path) / "projects" / "p" / "logs"
        logs.mkdir(parents=True)
        start = 0
        for content in files[:-1]:
            (logs / f"observations-{start:020d}.jsonl").write_bytes(content)
            start += len(content)
        (logs / "observations.jsonl").write_bytes(files[-1])
        if gone and len(files) > 1:
            (logs / f"observations-{0:020d}.jsonl").unlink()
        scan = {
            each.record.id: (each.position, each.record.raw)
            for each in FileLog(path, SystemClock()).read("p", "observations")
            if isinstance(each, Line)
        }
        device = Files()
        segments = open_segments(DataDirectory(path, device), device, "p", "observations")
        assert segments is not None

        found = {number: locate(segments, f"o_{ulid_text(number)}") for number in range(62)}
        segments.close()

    assert found == {number: scan.get(f"o_{ulid_text(number)}") for number in range(62)}
