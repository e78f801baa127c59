"""The commands as a person runs them: what they print, and the exit status of each outcome."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from app.cli import run

ROOT = Path(__file__).parents[4]
OK: list[list[Any]] = [
    ["read", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi", "eof"]
]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def tls_url(tmp_path: Path) -> Iterator[str]:
    """The URL of a TLS server that answers once; its authority is `ca.pem` in the folder of the test."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(OK[0][1])

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}/"
    thread.join(5)
    listener.close()


def test_a_measurement_is_summed_up_and_stored(
    byte_server: Callable[..., Any], registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["measure", "http", byte_server(OK).url, "--project", "Shop"])

    assert status == 0
    assert ": HTTP/1.1 200 OK\n" in capsys.readouterr().out
    assert (registry / "projects/shop/logs/observations.jsonl").exists()


def test_a_chain_of_hops_is_summed_up_hop_by_hop(
    byte_server: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    last = byte_server(OK)
    moved = f"HTTP/1.1 302 X\r\nLocation: {last.url}\r\nContent-Length: 0\r\n\r\n".encode()

    run(["measure", "http", byte_server([["read", moved, "eof"]]).url, "--follow"])

    shown = capsys.readouterr().out
    assert (f"hop 2: {last.url}\n" in shown, "(loopback)\n" in shown) == (True, True)


def test_a_handshake_is_summed_up(
    tls_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_CA_FILE", str(tmp_path / "ca.pem"))

    status = run(["measure", "http", tls_url])

    assert (status, ", ok\n  certified  " in capsys.readouterr().out) == (0, True)


def test_the_answer_of_the_tool_is_printed_as_json(
    byte_server: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    server = byte_server(OK)

    run(["measure", "http", server.url, "--json", "--full", "--header", "X-Note: a:b", "--method", "HEAD"])

    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["data"]["method"]) == (True, "HEAD")
    assert b"X-Note: a:b\r\n" in server.requests[0]


def test_a_target_that_does_not_answer_is_an_observation_with_status_1(
    byte_server: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["measure", "http", byte_server([["eof"]]).url])

    assert status == 1
    assert "no answer: " in capsys.readouterr().out


def test_a_refused_target_says_what_would_allow_it(capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["measure", "http", "http://10.0.0.1/"])

    error = capsys.readouterr().err
    assert status == 1
    assert error.startswith("facts-mcp: policy_denied: ")
    assert "facts-mcp: what would allow it: PLINTH_FACTS_NET_PROFILE=private\n" in error


def test_a_refusal_is_printed_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    run(["measure", "http", "http://10.0.0.1/", "--json"])

    assert json.loads(capsys.readouterr().out)["code"] == "policy_denied"


@pytest.mark.parametrize(
    "arguments",
    [["http://"], ["ftp://127.0.0.1/"], ["http://127.0.0.1/", "--body", "x", "--method", "POST"]],
    ids=["no host", "other scheme", "method not admitted"],
)
def test_bad_input_has_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", "http", *arguments]) == 2
    assert capsys.readouterr().err.startswith("facts-mcp: invalid_arguments: ")


def test_a_header_without_a_colon_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", "http", "http://127.0.0.1/", "--header", "X"]) == 2
    assert capsys.readouterr().err == "facts-mcp: --header: expected NAME:VALUE\n"


@pytest.mark.parametrize(
    ("urls", "status"),
    [
        (["http://127.0.0.1/"], 0),
        (["http://localhost/"], 0),
        (["http://10.0.0.1/"], 1),
        (["http://nobody.invalid/"], 1),
        (["http://127.0.0.1/", "http://127.1/"], 2),
    ],
    ids=["allowed", "a name that is answered here", "refused", "a name that is not looked up", "bad input"],
)
def test_the_policy_explains_itself(urls: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "explain", *urls]) == status
    assert capsys.readouterr().out.startswith(("allowed", "refused", "bad input"))


def test_the_policy_explains_itself_to_machines(capsys: pytest.CaptureFixture[str]) -> None:
    run(["policy", "explain", "http://localhost:8000/", "--json"])

    (explained,) = json.loads(capsys.readouterr().out)
    assert [address["address"] for address in explained["addresses"]] == ["127.0.0.1", "::1"]


def test_under_deny_all_no_name_is_looked_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "deny-all")

    assert run(["policy", "explain", "http://localhost/", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["addresses"] == []


def test_the_doctor_looks_at_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    assert {"profile", "clock", "kernel"} <= {check["name"] for check in json.loads(capsys.readouterr().out)}


def test_the_doctor_shows_a_damaged_log_and_does_not_complain_for_ever(
    registry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = registry / "projects/shop/logs"
    logs.mkdir(parents=True)
    (logs / "observations.jsonl").write_bytes(b"garbage\n")

    assert run(["doctor"]) == 0
    assert "shop/damage" in capsys.readouterr().out


def test_the_doctor_finds_a_data_directory_that_cannot_be_made(
    registry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (registry / "file").write_text("")
    monkeypatch.setenv("PLINTH_DATA_DIR", str(registry / "file/data"))

    assert run(["doctor"]) == 1
    assert "WRONG  data directory" in capsys.readouterr().out


def test_a_tool_that_is_not_served_cannot_be_called_by_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_TOOLSETS", "recall")

    assert run(["measure", "http", "http://127.0.0.1/"]) == 2
    assert capsys.readouterr().err == "facts-mcp: PLINTH_FACTS_TOOLSETS leaves out facts.measure.http\n"


def test_a_terminal_is_not_steered_by_what_a_target_sends(
    byte_server: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    body = b"\x1b]0;owned\x07\x1b[2J\xe2\x80\xae"
    head = b"HTTP/1.1 302 O\r\nContent-Type: text/plain\r\nLocation: /\x1b[2J\r\nContent-Length: %d\r\n\r\n"

    run(["measure", "http", byte_server([["read", head % len(body) + body, "eof"]]).url])

    printed = capsys.readouterr().out
    assert printed.replace("\n", "").isprintable()
    assert r"\x1b]0;owned\x07\x1b[2J\u202e" in printed


def by_hand(registry: Path, *arguments: str, stdout: Any, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PLINTH_DATA_DIR": str(registry), **environment},
        timeout=60,
    )


def test_a_terminal_that_knows_few_characters_gets_escapes(
    byte_server: Callable[..., Any], registry: Path
) -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\r\n\xc3\xa9"
    )
    target = byte_server([["read", answer, "eof"]])

    done = by_hand(registry, "measure", "http", target.url, stdout=subprocess.PIPE, PYTHONIOENCODING="ascii")

    assert done.returncode == 0
    assert b"  | \\xe9\n" in done.stdout


def test_an_output_that_cannot_be_written_is_one_line_on_stderr(registry: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = by_hand(registry, "doctor", stdout=full)

    assert done.returncode == 1
    assert done.stderr == b"facts-mcp: the output cannot be written: No space left on device\n"


def test_a_reader_that_went_away_is_no_fault_to_speak_of(registry: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = by_hand(registry, "doctor", stdout=gone)

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_measurement_which_is_stored(
    byte_server: Callable[..., Any], registry: Path, number: signal.Signals
) -> None:
    target = byte_server([["read", "hang"]])
    command = [sys.executable, "-m", "app", "measure", "http", target.url, "--json"]
    environment = {"PATH": os.environ["PATH"], "PLINTH_DATA_DIR": str(registry)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as process:
        while b"\r\n\r\n" not in b"".join(target.requests):
            assert process.poll() is None
        process.send_signal(number)
        printed, _ = process.communicate(timeout=30)

    answer = json.loads(printed)
    assert (answer["error"]["code"], answer["stored"]) == ("cancelled", True)


def test_the_help_states_the_active_profile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "private")

    with pytest.raises(SystemExit) as ended:
        run(["--help"])

    assert ended.value.code == 0
    assert "Active policy: Egress policy private" in capsys.readouterr().out


def test_the_help_answers_also_when_the_settings_are_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "everything")

    with pytest.raises(SystemExit):
        run(["--help"])

    assert "none, for the settings are wrong: PLINTH_FACTS_NET_PROFILE" in capsys.readouterr().out
