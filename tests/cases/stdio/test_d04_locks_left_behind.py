"""D04: a lock is the kernel's: what a dead server left in the lock file holds nobody up, and a live one shares."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

FIRST_PROCESS = ("unshare", "-rpf", "--kill-child", "--mount-proc")
OTHER_HOST = ("unshare", "-ru", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh")

LEFT: dict[str, bytes] = {
    "process 1": b'{"pid":1}',
    "process 1 of another boot": b'{"pid":1,"host":"gone","boot":"4bd4b7f2-0000-0000-0000-000000000000"}',
    "a process that lives": b'{"pid":%d,"host":"%s"}' % (os.getpid(), os.uname().nodename.encode()),
    "a number alone": b"1\n",
    "nothing": b"",
    "rubbish": b"\0" * 100_000,
}


def asserted(facts: Any, count: int) -> set[str]:
    """Initialise, assert so many claims, and return the ids that were acknowledged."""
    facts.initialize()
    for number in range(count):
        facts.recall(number, "assert", statement=f"claim {number} of {facts.folder.name}", observed_by="a")
    return {facts.content(number, within=5)["claim_id"] for number in range(count)}


def served(facts: Any) -> set[str]:
    facts.recall("all", "query", limit=100)
    return {claim["claim_id"] for claim in facts.content("all", within=5)["claims"]}


@pytest.mark.parametrize("prefix", [(), FIRST_PROCESS, OTHER_HOST], ids=["a process", "process 1", "a host"])
def test_d04_after_a_kill_the_next_server_serves_at_once_all_that_was_acknowledged(
    prefix: tuple[str, ...], server: Any
) -> None:
    first = server(*prefix)
    acknowledged = asserted(first, 20)
    first.process.kill()
    first.process.wait()
    second = server(*FIRST_PROCESS, PLINTH_DATA_DIR=str(first.folder / "data"))
    more = asserted(second, 1)

    assert served(second) == acknowledged | more
    assert len(acknowledged | more) == 21


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_d04_the_text_of_a_lock_file_holds_nobody_up(left: bytes, server: Any, tmp_path: Path) -> None:
    lock = tmp_path / "registry/projects/cases/lock"
    lock.parent.mkdir(parents=True)
    lock.write_bytes(left)
    facts = server(PLINTH_DATA_DIR=str(tmp_path / "registry"))

    assert served_after(facts) == 1


def served_after(facts: Any) -> int:
    asserted(facts, 1)
    return len(served(facts))


def test_d04_two_live_servers_write_both_and_every_acknowledged_line_survives(server: Any) -> None:
    first = server()
    second = server(*OTHER_HOST, PLINTH_DATA_DIR=str(first.folder / "data"))
    for facts in (first, second):
        facts.initialize()
    for number in range(40):
        for facts in (first, second):
            facts.recall(
                number, "assert", statement=f"claim {number} of {facts.folder.name}", observed_by="a"
            )
    acknowledged = [facts.content(number)["claim_id"] for facts in (first, second) for number in range(40)]

    assert served(first) == served(second) == set(acknowledged)
    lines = first.records("claims")
    assert [line["seq"] for line in lines] == list(range(1, 81))
    assert [line["id"] for line in lines] == sorted(acknowledged)


def test_d04_the_same_claim_of_two_live_servers_at_once_is_one(server: Any) -> None:
    first = server()
    second = server(PLINTH_DATA_DIR=str(first.folder / "data"))
    for facts in (first, second):
        facts.initialize()
        for number in range(20):
            facts.recall(number, "assert", statement=f"claim {number}", observed_by="a")
    answers = [facts.content(number) for facts in (first, second) for number in range(20)]

    assert len({answer["claim_id"] for answer in answers}) == 20
    assert sum(answer["created"] for answer in answers) == 20


@pytest.mark.slow
def test_d04_a_holder_that_hangs_is_a_typed_failure_and_no_pretended_success(server: Any) -> None:
    facts = server()
    asserted(facts, 1)
    holder = os.open(facts.folder / "data/projects/cases/lock", os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    facts.recall("held", "assert", statement="held up", observed_by="a")
    facts.ping("alive", within=1)
    refused = facts.content("held", within=15)
    os.close(holder)
    facts.recall("free", "assert", statement="held up", observed_by="a")

    assert (refused["code"], refused["reason_code"]) == ("storage_failed", "locked")
    assert facts.content("free", within=5)["created"] is True
    assert len(served(facts)) == 2
