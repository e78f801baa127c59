"""The entry point and the application behind it: what stops the start, and that heavy parts come at first use.

Two modules share this page: `app/main.py` and `app/__main__.py`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.errors import StartError, ToolError
from app.main import Application
from app.settings import read_settings

ROOT = Path(__file__).parents[3]
DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
HEAVY = (
    "aiohttp",
    "cryptography",
    "dns",
    "h11",
    "yarl",
    "idna",
    "prometheus_client",
    "sqlite3",
    "app.net",
)


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Application:
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path / "data"))
    return Application(read_settings())


def serve(
    tmp_path: Path, *messages: Any, code: str = "import app.__main__ as m; m.main()", **variables: str
) -> Any:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PLINTH_DATA_DIR": str(tmp_path / "data"),
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )


def test_the_profile_is_stated_in_the_instructions_and_on_stderr(tmp_path: Path) -> None:
    done = serve(tmp_path, DISCOVER)

    instructions = json.loads(done.stdout)["result"]["instructions"]
    assert "Egress policy loopback (rules " in instructions
    assert "Egress policy loopback (rules " in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("toolsets", "told"),
    [
        ("measure,recall", ["Measures ", "Recall "]),
        ("measure", ["Measures "]),
        ("recall", ["Recall "]),
    ],
)
def test_a_client_is_told_about_the_tools_that_are_served(
    tmp_path: Path, toolsets: str, told: list[str]
) -> None:
    done = serve(tmp_path, DISCOVER, PLINTH_FACTS_TOOLSETS=toolsets)

    instructions = json.loads(done.stdout)["result"]["instructions"]
    assert [word for word in ("Measures ", "Recall ") if word in instructions] == told


def test_nothing_heavy_is_imported_before_the_first_answer_and_nothing_is_written(tmp_path: Path) -> None:
    listing = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": DISCOVER["params"]}

    done = serve(
        tmp_path,
        DISCOVER,
        tools,
        code=listing + "sys.argv = ['facts-mcp']; import app.__main__ as m; m.main()",
    )

    loaded = set(done.stderr.split())
    assert [name for name in HEAVY if name in loaded] == []
    assert not (tmp_path / "data").exists()
    assert len(done.stdout.splitlines()) == 2


def test_the_description_of_every_measuring_tool_states_the_profile(application: Application) -> None:
    stating = [
        name for name, tool in application.tools.items() if application.policy_sentence in tool.description
    ]

    assert stating == ["facts.measure.http", "facts.measure.ws"]


@pytest.mark.parametrize(
    ("toolset", "names"),
    [
        ("measure", ["facts.measure.http", "facts.measure.ws"]),
        (
            "recall",
            ["facts.recall.assert", "facts.recall.retract", "facts.recall.query", "facts.recall.history"],
        ),
    ],
)
def test_a_toolset_that_is_not_asked_for_is_not_served(
    monkeypatch: pytest.MonkeyPatch, toolset: str, names: list[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_TOOLSETS", toolset)

    assert list(Application(read_settings()).tools) == names


def test_the_names_of_the_tools_follow_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_TOOL_NAMES", "dots")

    names = Application(read_settings()).names

    assert all(name == advertised for name, advertised in names.items())


def test_recall_is_listed_after_measuring_and_under_names_without_dots(application: Application) -> None:
    assert list(application.names.items()) == [
        ("facts.measure.http", "facts_measure_http"),
        ("facts.measure.ws", "facts_measure_ws"),
        ("facts.recall.assert", "facts_recall_assert"),
        ("facts.recall.retract", "facts_recall_retract"),
        ("facts.recall.query", "facts_recall_query"),
        ("facts.recall.history", "facts_recall_history"),
    ]


def test_a_tool_of_a_toolset_that_is_left_out_cannot_be_called_by_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_TOOLSETS", "measure")

    with pytest.raises(StartError, match=r"PLINTH_FACTS_TOOLSETS leaves out facts\.recall\.query"):
        asyncio.run(Application(read_settings()).call("facts.recall.query", {"project": "p"}))


def test_what_is_recalled_builds_nothing_that_measures(application: Application) -> None:
    answer = asyncio.run(application.call("facts.recall.query", {"project": "p"}))
    application.close()

    assert (answer["claims"], answer["matched"]) == ([], 0)
    assert [part for part in ("laboratory", "dialer", "network") if part in vars(application)] == []


def test_the_progress_of_an_index_is_told_on_stderr(
    application: Application, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "data/projects/p/logs"
    logs.mkdir(parents=True)
    (logs / "claims.jsonl").write_bytes(b" " * (5 << 20) + b"\n")
    registry = application.registry
    registry.index("p").catch_up()
    registry.index("p").wait(60)
    application.close()

    application.journal.drain()
    told = [line for line in capfd.readouterr().err.splitlines() if " index " in line]
    assert f"index project=p position={(5 << 20) + 1} of={(5 << 20) + 1}" in told[-1]


def test_a_malformed_policy_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_ALLOW_HOSTS", "127.0.0.1:80")

    with pytest.raises(StartError):
        Application(read_settings())


def test_an_entry_that_can_never_be_reached_is_one_warning_and_no_refusal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "allowlist")
    monkeypatch.setenv("PLINTH_FACTS_ALLOW_HOSTS", "169.254.169.254:80")

    assert len(Application(read_settings()).policy.warnings) == 1


def test_a_call_by_hand_goes_the_way_of_the_tool(application: Application, byte_server: Any) -> None:
    server = byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])

    answer = asyncio.run(application.call("facts.measure.http", {"project": "p", "url": server.url}))
    application.close()

    assert (answer["ok"], answer["stored"], answer["data"]["http_status"]) == (True, True, 204)


def test_an_error_is_shown_without_the_secrets_of_its_arguments(application: Application) -> None:
    error = ToolError("conflict", "no: token=s3cr3t-canary")

    content = application.error_content(error, {"url": "http://127.0.0.1/?token=s3cr3t-canary"})

    assert "s3cr3t-canary" not in content["message"]


def test_without_a_key_that_can_be_kept_masks_are_made_with_a_new_one(
    application: Application, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file where a directory should be")

    assert application.redactor.text("password=hunter2hunter2").startswith("password=[redacted:")


def test_damage_in_a_log_is_reported_on_stderr_once(
    application: Application, byte_server: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "data/projects/p/logs"
    logs.mkdir(parents=True)
    (logs / "observations.jsonl").write_bytes(b'{"torn')
    server = byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    for _ in range(2):
        asyncio.run(application.call("facts.measure.http", {"project": "p", "url": server.url}))
    application.close()

    application.journal.drain()
    reports = [line for line in capfd.readouterr().err.splitlines() if " damage " in line]
    assert len(reports) == 1
    assert "projects/p/logs/observations.jsonl at byte 0, 6 bytes: torn" in reports[0]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [("http://127.0.0.1/", 1), ("http://localhost/", 2), ("http://nobody.invalid/", 0), ("http://", None)],
)
def test_a_policy_is_explained_with_the_addresses_of_a_name(
    application: Application, text: str, addresses: int | None
) -> None:
    (explained,) = asyncio.run(application.explain([text]))

    assert (len(explained["addresses"]) if "addresses" in explained else None) == addresses


def test_the_module_is_a_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["facts-mcp", "--version"])

    with pytest.raises(SystemExit):
        runpy.run_module("app", run_name="__main__")
    gc.enable()

    assert capsys.readouterr().out.startswith("facts-mcp ")
