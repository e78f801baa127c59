"""Where OSError enters: each errno becomes the reason of a StoreError, and nothing else in the store decides that."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Final

from app.errors import StoreError, StoreReason

_REASONS: Final[Mapping[int, StoreReason]] = {
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EROFS: "read_only",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.ELOOP: "symlink",
}


def storage_error(error: OSError, what: str) -> StoreError:
    """The StoreError for a failed system call on `what`; errors without a name of their own are `io`."""
    reason = _REASONS.get(error.errno or 0, "io")
    return StoreError(reason, f"{what}: {error.strerror or error}")
