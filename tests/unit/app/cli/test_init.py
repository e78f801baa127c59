"""The entry to the commands: a start that is refused says why, line by line, with status 2."""

from __future__ import annotations

import pytest

from app.cli import application, run


def test_a_refused_start_prints_one_line_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "allowlist")
    monkeypatch.setenv("PLINTH_FACTS_ALLOW_HOSTS", "127.0.0.1:,*:80")

    status = run(["doctor"])

    lines = capsys.readouterr().err.splitlines()
    assert status == 2
    assert len(lines) == 2
    assert all(line.startswith("facts-mcp: ") for line in lines)


def test_the_application_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "deny-all")

    assert application().policy.profile == "deny-all"
