"""Each errno has one name, and one that is unknown is an input/output error."""

from __future__ import annotations

import errno

import pytest

from app.store.faults import storage_error


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        pytest.param(OSError(errno.ENOSPC, "full"), "no_space", "a.jsonl: full", id="no space"),
        pytest.param(OSError(errno.EDQUOT, "quota"), "no_space", "a.jsonl: quota", id="no quota"),
        pytest.param(OSError(errno.EROFS, "ro"), "read_only", "a.jsonl: ro", id="read-only"),
        pytest.param(OSError(errno.EACCES, "no"), "permission", "a.jsonl: no", id="no access"),
        pytest.param(OSError(errno.ELOOP, "loop"), "symlink", "a.jsonl: loop", id="a link"),
        pytest.param(OSError(errno.EIO, "broken"), "io", "a.jsonl: broken", id="broken"),
        pytest.param(OSError("without a number"), "io", "a.jsonl: without a number", id="no number"),
    ],
)
def test_a_system_error_has_a_reason(error: OSError, reason: str, message: str) -> None:
    failure = storage_error(error, "a.jsonl")

    assert (failure.reason, failure.message) == (reason, message)
