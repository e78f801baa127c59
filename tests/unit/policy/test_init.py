"""The public names, and what importing them may cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import policy

ROOT = Path(__file__).parents[3]


def test_the_public_names_exist_and_are_sorted() -> None:
    assert [name for name in policy.__all__ if not hasattr(policy, name)] == []
    assert len(set(policy.__all__)) == len(policy.__all__)


def test_importing_policy_and_judging_an_ascii_name_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import policy; "
        "policy.Policy.parse('allowlist', 'a.test:80,10.0.0.1:80'); "
        "print(sorted({'idna', 'yarl', 'socket', 'ssl', 'asyncio'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-ISB", "-c", code, str(ROOT)], capture_output=True, text=True, timeout=60
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")
