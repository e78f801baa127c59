"""Runs measurements in a network namespace, where every address can be listened on and nothing can leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Answers = list[dict[str, Any]]


@pytest.fixture(scope="session")
def in_a_namespace() -> Callable[[dict[str, Any]], Answers]:
    """What `measure_inside.py` answers to a request; a machine without user namespaces fails here, loudly."""

    def run(request: dict[str, Any]) -> Answers:
        script = Path(__file__).with_name("measure_inside.py")
        root = str(script.parents[3])
        done = subprocess.run(
            ["unshare", "-rn", sys.executable, str(script)],
            input=json.dumps(request), capture_output=True, text=True, timeout=60, cwd=root,
            env={**os.environ, "PYTHONPATH": root},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answers: Answers = json.loads(done.stdout)
        return answers

    return run
