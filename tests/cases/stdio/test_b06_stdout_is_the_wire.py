"""B06: standard output carries nothing but the protocol."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

NOISY = {
    "PYTHONWARNINGS": "always",
    "PYTHONDEVMODE": "1",
    "PYTHONASYNCIODEBUG": "1",
    "PLINTH_FACTS_LOG_LEVEL": "debug",
}
# Stands before the real module: prints in every way, then makes way for it.
CHATTY = """
import importlib.machinery, importlib.util, os, sys
os.write(1, b"chatter\\n")
print("chatter", flush=True)
os.system("echo chatter")
others = [entry for entry in sys.path if entry != os.path.dirname(__file__)]
spec = importlib.machinery.PathFinder.find_spec(__name__, others)
sys.modules[__name__] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[__name__])
"""


def check_pure(raw: bytes) -> None:
    assert (raw[:1], raw[-1:]) == (b"{", b"\n")
    assert b"\r" not in raw
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in raw.splitlines())


def work(facts: Any, url: str) -> None:
    """A little of everything: a good call, a refused one, a wrong one, an unknown one, garbage."""
    facts.initialize()
    facts.call(1, url)
    facts.call(2, "http://10.0.0.1/")
    facts.call(3, "not a url")
    facts.ask(4, "tools/call", name="nothing")
    facts.write(b"garbage\n")
    for id_ in (1, 2, 3, 4):
        facts.answer(id_)
    facts.hang_up()
    assert facts.ended() == 0


def test_b06_the_noisiest_surroundings_do_not_reach_the_output(server: Any, byte_server: Any) -> None:
    facts, target = server(**NOISY), byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    work(facts, target.url)

    check_pure(bytes(facts.raw))
    assert facts.log() != ""


@pytest.mark.parametrize("module", ["yarl", "h11"])
def test_b06_a_library_that_prints_does_not_reach_the_output(
    module: str, server: Any, byte_server: Any, tmp_path: Path
) -> None:
    root = str(Path(__file__).parents[3])
    (tmp_path / f"{module}.py").write_text(CHATTY)
    target = byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    facts = server(PYTHONPATH=f"{tmp_path}:{root}")
    work(facts, target.url)

    check_pure(bytes(facts.raw))
    assert facts.log().count("chatter") == 3


def test_b06_a_signal_that_nobody_expects_leaves_whole_lines(server: Any) -> None:
    facts = server()
    facts.initialize()
    facts.process.send_signal(signal.SIGUSR1)
    facts.hang_up()
    facts.ended(within=5)

    check_pure(bytes(facts.raw))


@pytest.mark.parametrize(
    "settings",
    [{"PLINTH_FACTS_NET_PROFILE": "everything"}, {"PLINTH_FACTS_NO_SUCH_SETTING": "1"}],
    ids=["a profile nobody knows", "a setting nobody knows"],
)
def test_b06_a_start_that_fails_says_so_on_stderr_alone(settings: dict[str, str], server: Any) -> None:
    facts = server(**settings)

    assert facts.ended() != 0
    assert facts.raw == b""
    (line,) = facts.log().splitlines()
    assert next(iter(settings)) in line
