"""Odd answers, replayed: each becomes facts, with or without a documented error, however its bytes are cut.

`http_heads/answers.json` maps a name to the bytes of an answer as latin-1 text. Add what breaks something.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from app.clock import SystemClock
from app.errors import ProbeErrorCode
from app.measure.http import KIND
from app.measure.kind import Bench, Outcome
from app.net.dialer import Dialer
from app.net.scripted import ScriptedNetwork
from policy import Policy

ANSWERS: dict[str, str] = json.loads((Path(__file__).parent / "http_heads" / "answers.json").read_text())
CODES = frozenset(get_args(ProbeErrorCode))


def measured(pieces: list[bytes]) -> Outcome:
    clock = SystemClock()
    network = ScriptedNetwork(peers={("10.0.0.1", 80): [*pieces, "eof"]}, clock=clock)
    dialer = Dialer(Policy.parse("private"), network, clock, budget=None, max_in_flight=0)
    arguments = {"project": "p", "url": "http://10.0.0.1/", "follow_redirects": True, "max_redirects": 1}

    async def take() -> Outcome:
        bench = Bench(dialer, clock, clock.monotonic_ns() + 10**10)
        return await KIND.probe(KIND.plan(msgspec.convert(arguments, KIND.params), bench), bench)

    return asyncio.run(take())


def without_time(outcome: Outcome) -> Any:
    """What must not depend on how the bytes were cut."""
    names = (
        "http_status",
        "headers",
        "body",
        "body_encoding",
        "body_sha256",
        "complete",
        "extra_bytes",
        "redirect",
    )
    code = outcome.error["code"] if outcome.error else None
    return outcome.ok, code, [outcome.data[name] for name in names]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_odd_answer_becomes_facts_or_a_documented_error(name: str) -> None:
    outcome = measured([ANSWERS[name].encode("latin-1")] if ANSWERS[name] else [])

    assert outcome.error is None or outcome.error["code"] in CODES
    assert not outcome.ok or outcome.data["http_status"] is not None
    assert json.loads(json.dumps(outcome.data, allow_nan=False).encode()) == outcome.data
    assert msgspec.convert(KIND.brief(outcome.data), KIND.facts) is not None


@pytest.mark.parametrize("name", [name for name in ANSWERS if len(ANSWERS[name]) < 3000])
def test_an_odd_answer_means_the_same_byte_by_byte(name: str) -> None:
    wire = ANSWERS[name].encode("latin-1")

    whole, cut = measured([wire] if wire else []), measured([wire[at : at + 1] for at in range(len(wire))])

    assert without_time(cut) == without_time(whole)
