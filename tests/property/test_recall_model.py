"""Recall against a plain list in memory: whatever is asserted, retracted, restarted or deleted, both agree.

Two servers share one directory; the wall clock steps in either direction while the clock since boot only grows.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.clock import SystemClock, utc_text
from app.errors import ToolError
from app.recall.age import Witness
from app.recall.projection import VERSION, row
from app.redact import Redactor
from app.store.directory import DataDirectory
from app.store.file import FileLog
from app.store.files import Files
from app.store.index import Recipe
from app.store.log import Damage, Line
from app.store.registry import Registry
from app.tools.recall import Archive, recall_tools
from app.tools.tool import Context, validate

SECOND = 1_000_000_000
START = 1_767_225_600 * SECOND
PIECE = b'{"v":1,"seq":7,"id":"c_01'

words = st.sampled_from(["red", "green", "apple", "car"])
statements = st.lists(words, min_size=1, max_size=3).map(" ".join)
tags = st.lists(st.sampled_from("abc"), max_size=2)
people = st.sampled_from(["me", "you"])
keys = st.sampled_from([None, None, None, "k", "l"])
servers = st.integers(0, 1)
seconds = st.integers(-20, 20)


FILTERS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.lists(words | words.map(lambda word: f"-{word}"), min_size=1, max_size=2).map(" ".join),
    "tags": tags,
    "any_tags": tags,
    "observed_by": people,
    "after": seconds,
    "before": seconds,
    "stale": st.booleans(),
}
NO_FILTERS = dict.fromkeys(FILTERS) | {"tags": [], "any_tags": []}


def alone(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """One filter and no other: with several, often nothing is left to be found."""
    return st.fixed_dictionaries({name: FILTERS[name]})


class SteeredClock(SystemClock):
    """Two clocks that show what they are told to."""

    def __init__(self) -> None:
        self.wall, self.boot = START, 7 * SECOND

    def wall_ns(self) -> int:
        return self.wall

    def boottime_ns(self) -> int:
        return self.boot


class Server:
    """One server on the directory, its tools, and what it saw itself, by id, on the clock since boot."""

    def __init__(self, path: str, clock: SteeredClock) -> None:
        self.saw: dict[str, int] = {}
        files = Files()
        self.log = FileLog(path, clock)
        recipe = Recipe("words", VERSION, row)
        self.registry = Registry(self.log, DataDirectory(path, files), files, recipe, _ignored, print)
        archive = Archive(self.registry, clock, Redactor(b"k"), Witness(), 10.0, "words", str)
        self._tools = {tool.name.rpartition(".")[2]: tool for tool in recall_tools(lambda: archive)}
        self._runner = asyncio.Runner()

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers, or the content of its refusal."""
        tool = self._tools[name]
        given = {"project": "p", **{key: value for key, value in arguments.items() if value is not None}}
        try:
            params = validate(tool.params, given)
            return self._runner.run(tool.run(params, given, Context(print)))  # type: ignore[arg-type]
        except ToolError as error:
            return error.content()

    def close(self) -> None:
        self._runner.close()
        self.registry.close()
        self.log.close()


class Recall(RuleBasedStateMachine):
    """The servers and the model: a list of claims in the order in which they were asserted."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.clock = SteeredClock()
        self.servers = [Server(self.directory.name, self.clock) for _ in range(2)]
        self.claims: list[dict[str, Any]] = []
        self.lines = 0

    def teardown(self) -> None:
        for server in self.servers:
            server.close()
        self.directory.cleanup()

    @initialize(claims=st.lists(st.tuples(servers, statements, tags, people, keys), min_size=3, max_size=6))
    def begin(self, claims: list[tuple[int, str, list[str], str, str | None]]) -> None:
        for claim in claims:
            self.time_goes_on(2, 0)
            self.claim_is_asserted(*claim)

    @rule(goes=st.integers(0, 20), steps=st.sampled_from([0, 0, 0, -15, 15]))
    def time_goes_on(self, goes: int, steps: int) -> None:
        self.clock.boot += goes * SECOND
        self.clock.wall += (goes + steps) * SECOND

    @rule(who=servers, statement=statements, tags=tags, by=people, key=keys)
    def claim_is_asserted(self, who: int, statement: str, tags: list[str], by: str, key: str | None) -> None:
        content = {"statement": statement, "tags": tags, "observed_by": by, "idempotency_key": key}
        same = [one for one in self.claims if one["content"] == content and not one["retracted"]]
        keyed = [one for one in self.claims if key and one["content"]["idempotency_key"] == key]

        answer = self.servers[who].call("assert", **content)

        if same:
            assert (answer["claim_id"], answer["created"]) == (same[0]["id"], False)
        elif any(one["content"] != content for one in keyed):
            assert answer["reason_code"] == "idempotency_key_reused"
        else:
            assert answer["created"] is True
            self.lines += 1
            claim = {
                "id": answer["claim_id"],
                "content": content,
                "wall": self.clock.wall,
                "retracted": False,
            }
            self.claims.append(claim)
            self.servers[who].saw[claim["id"]] = self.clock.boot

    @rule(who=servers, pick=st.integers(0, 30))
    def claim_is_retracted(self, who: int, pick: int) -> None:
        if not self.claims:
            return
        claim = self.claims[pick % len(self.claims)]

        answer = self.servers[who].call("retract", claim_id=claim["id"], reason="wrong")

        if claim["retracted"]:
            assert answer["reason_code"] == "already_retracted"
            assert answer["details"]["retraction"]["retraction_id"] == claim["retracted"]
        else:
            claim["retracted"] = answer["retraction_id"]
            self.lines += 1

    @rule(
        who=servers,
        filters=st.fixed_dictionaries({}, optional=FILTERS) | st.sampled_from(sorted(FILTERS)).flatmap(alone),
        retracted=st.sampled_from(["exclude", "include", "only"]),
        order=st.sampled_from(["newest", "oldest", "match"]),
        limit=st.integers(1, 4),
    )
    def claims_are_asked_for(self, who: int, filters: dict[str, Any], order: str, **asked: Any) -> None:
        asked = {**NO_FILTERS, **filters, **asked}
        asked["order"] = "newest" if order == "match" and not asked["text"] else order
        window = [
            None if each is None else START + each * SECOND
            for each in (asked.pop("after"), asked.pop("before"))
        ]
        texts = [None if each is None else utc_text(each) for each in window]

        found, matched = self._pages(who, asserted_after=texts[0], asserted_before=texts[1], **asked)

        right = [one["id"] for one in self.claims if self._is_asked_for(one, who, window, asked)]
        if asked["order"] == "match":
            assert sorted(found) == sorted(right)
        else:
            assert found == (right if asked["order"] == "oldest" else right[::-1])
        assert matched is None or matched == len(right)

    @rule(
        who=servers,
        stale=st.booleans(),
        steps=st.sampled_from([-30, -15, 0, 15, 30]),
        goes=st.integers(0, 12),
        limit=st.integers(1, 4),
    )
    def ages_are_asked_for(self, who: int, steps: int, goes: int, *, stale: bool, limit: int) -> None:
        self.time_goes_on(goes, steps)

        found, matched = self._pages(who, stale=stale, limit=limit)

        standing = [one for one in self.claims if not one["retracted"]]
        right = [one["id"] for one in standing if (self._age_ns(one, who) > 10 * SECOND) is stale]
        assert found == right[::-1]
        assert matched is None or matched == len(right)

    @rule(who=servers, pick=st.integers(0, 30))
    def history_is_asked_for(self, who: int, pick: int) -> None:
        if not self.claims:
            return
        claim = self.claims[pick % len(self.claims)]

        events = self.servers[who].call("history", claim_id=claim["id"])["events"]

        own = [claim["id"], *([claim["retracted"]] if claim["retracted"] else [])]
        assert [event["event"]["id"] for event in events] == own

    @rule(who=servers)
    def server_is_started_again(self, who: int) -> None:
        self.servers[who].close()
        self.servers[who] = Server(self.directory.name, self.clock)

    @rule(beside=st.booleans())
    def index_is_deleted(self, *, beside: bool) -> None:
        folder = Path(self.directory.name, "projects", "p")
        for suffix in ("", "-wal", "-shm")[: 3 if beside else 1]:
            Path(folder, f"index.sqlite{suffix}").unlink(missing_ok=True)

    @rule()
    def dead_server_leaves_a_piece(self) -> None:
        log = Path(self.directory.name, "projects", "p", "logs", "claims.jsonl")
        if log.exists():
            with log.open("ab") as file:
                file.write(PIECE)

    @invariant()
    def log_has_a_line_for_everything_and_no_more(self) -> None:
        found = self.servers[0].log.read("p", "claims")
        assert sum(isinstance(one, Line) for one in found) == self.lines

    def _pages(self, who: int, **asked: Any) -> tuple[list[str], int | None]:
        """The ids of all pages, and how many there are said to be, if that is said exactly."""
        found: list[str] = []
        cursor = None
        counts = set()
        for _ in range(100):
            answer = self.servers[who].call("query", cursor=cursor, **asked)
            counts.add((answer["matched"], answer["matched_is_exact"]))
            assert answer["index"]["state"] == "current"
            found += [claim["claim_id"] for claim in answer["claims"]]
            cursor = answer["next_cursor"]
            if cursor is None:
                assert len(counts) == 1
                return found, answer["matched"] if answer["matched_is_exact"] else None
        raise AssertionError("the pages have no end")

    def _is_asked_for(
        self, claim: dict[str, Any], who: int, window: list[int | None], asked: dict[str, Any]
    ) -> bool:
        return all(self._conditions(claim, who, window, asked))

    def _conditions(
        self, claim: dict[str, Any], who: int, window: list[int | None], asked: dict[str, Any]
    ) -> Iterator[bool]:
        content = claim["content"]
        said = content["statement"].split()
        for word in (asked["text"] or "").split():
            yield word[1:] not in said if word.startswith("-") else word in said
        yield set(asked["tags"]) <= set(content["tags"])
        yield not asked["any_tags"] or bool(set(asked["any_tags"]) & set(content["tags"]))
        yield asked["observed_by"] in (None, content["observed_by"])
        yield asked["retracted"] == "include" or bool(claim["retracted"]) == (asked["retracted"] == "only")
        yield window[0] is None or claim["wall"] >= window[0]
        yield window[1] is None or claim["wall"] < window[1]
        yield asked["stale"] in (None, self._age_ns(claim, who) > 10 * SECOND)

    def _age_ns(self, claim: dict[str, Any], who: int) -> int:
        saw = self.servers[who].saw.get(claim["id"])
        return self.clock.wall - claim["wall"] if saw is None else self.clock.boot - saw


def _ignored(_damage: Damage) -> None:
    """Pieces of dead servers are part of the game."""


TestRecall = Recall.TestCase
TestRecall.settings = settings(
    deadline=None,
    max_examples=20,
    stateful_step_count=30,
    suppress_health_check=[HealthCheck.too_slow],
)
