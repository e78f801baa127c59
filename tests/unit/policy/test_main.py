"""`python -m policy`: exit codes, lines and JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from policy.__main__ import main

ROOT = Path(__file__).parents[3]

CODES = {
    "allowed": (["http://127.0.0.1/"], 0),
    "refused": (["http://10.0.0.1/"], 1),
    "bad input": (["http://127.1/"], 2),
    "the worst of several": (["http://127.0.0.1/", "http://127.1/", "http://10.0.0.1/"], 2),
    "refused among allowed": (["http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/"], 1),
    "another profile": (["--profile", "private", "http://10.0.0.1/"], 0),
    "entries make it an allowlist": (["--allow", "10.0.0.1:80", "http://10.0.0.1/"], 0),
    "a NAT64 prefix": (["--profile", "private", "--nat64", "64:ff9b::/96", "http://[64:ff9b::a01:203]/"], 0),
    "settings that make no policy": (["--allow", "10.0.0.1", "http://10.0.0.1/"], 2),
    "entries without their profile": (["--profile", "private", "--allow", "a:1", "http://10.0.0.1/"], 2),
}


@pytest.mark.parametrize("row", CODES.values(), ids=CODES)
def test_the_exit_code_is_0_allowed_1_refused_2_bad_input(row: tuple[list[str], int]) -> None:
    arguments, code = row

    assert main(arguments) == code


@pytest.mark.parametrize("arguments", [[], ["--profile", "open", "http://a/"], ["--nope", "http://a/"]])
def test_a_wrong_command_line_is_bad_input(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)

    assert end.value.code == 2


def test_json_is_one_array_on_stdout_and_warnings_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--json", "--allow", "169.254.1.1:80,a.test:80", "http://a.test/", "http://169.254.1.1/"])

    out, err = capsys.readouterr()
    assert [each["rule"] for each in json.loads(out)] == ["listed_name", "never"]
    assert err.startswith("warning: PLINTH_FACTS_ALLOW_HOSTS: entry 169.254.1.1:80 can never be reached")


def test_every_malformed_entry_is_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--allow", "a,b:80,c", "http://a/"])

    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == [
        "entry 'a'",
        "entry 'c'",
    ]


def test_the_module_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "policy", "http://127.0.0.1/", "http://nas.test/"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.splitlines()[0] == "allowed http://127.0.0.1/"
    assert "undecided http://nas.test/" in done.stdout.splitlines()
