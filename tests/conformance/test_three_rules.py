"""The three rules of the product, held over every tool: nothing from memory that can be measured, ages, no judgement.

The application is built as a start builds it, and its tools are called as a client calls them.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app.clock import SystemClock, utc_text
from app.errors import ToolError
from app.main import Application
from app.records.codec import body
from app.records.events import Measured
from app.settings import read_settings

ROOT = Path(__file__).parents[2]
SECOND = 1_000_000_000
JUDGEMENTS = {
    *("health", "healthy", "score", "severity", "passed", "recommendation"),
    *("confidence", "verdict", "rank", "rating", "grade"),
}
KEYWORDS_OF_NAMES = ("properties", "$defs", "patternProperties", "dependentSchemas")
"""Keywords of JSON Schema under which names stand that somebody chose."""
CANARY = "hunter2-canary-7f3a"
SECRETS = [
    pytest.param(f"password={CANARY}", id="a password"),
    pytest.param(f"see https://user:{CANARY}@h.test/a?token={CANARY}", id="a URL with its user"),
    pytest.param(f"Authorization: Bearer {CANARY}", id="a header"),
    pytest.param(f'{{"api_key": "{CANARY}", "n": 1}}', id="JSON"),
    pytest.param(f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----", id="a private key"),
]
PRODUCTS = re.compile(
    r"(?<![a-z])(checkout|cart|shop|invoice|payment|customer|billing|storefront|tenant|plinth|openai|anthropic|"
    r"claude|chatgpt|copilot|gemini|github|gitlab|slack|jira|stripe|shopify|salesforce|wordpress|jenkins|"
    r"grafana|kubernetes|langchain)(?![a-z])",
    re.IGNORECASE,
)
NAMED_ON_PURPOSE = {
    "plinth": re.compile(r"PLINTH_(DATA_DIR|FACTS_)|~/\.plinth"),  # the settings and the directory
    "github": re.compile(r"github\.com/ulid/spec"),  # a source
    "checkout": re.compile(r"Example: \{\"project\": \"checkout\""),  # the example of every page
}
OF_SECRETS = ROOT / "app" / "redact"
"""Secrets are known by the shapes that their issuers gave them, and those have names."""


class SteeredClock(SystemClock):
    """Three clocks that show what they are told to."""

    def __init__(self) -> None:
        super().__init__()
        self.wall, self.boot = 1_772_359_200 * SECOND, 10**6 * SECOND

    def wall_ns(self) -> int:
        return self.wall

    def boottime_ns(self) -> int:
        return self.boot


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Application]:
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path / "data"))
    made = Application(read_settings())
    yield made
    made.close()


@pytest.fixture
def denied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Application]:
    """One that may reach nothing."""
    monkeypatch.setenv("PLINTH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "deny-all")
    made = Application(read_settings())
    yield made
    made.close()


async def call(application: Application, name: str, **arguments: Any) -> dict[str, Any]:
    """The content that a client gets, in the form that was published."""
    tool = application.tools[name]
    given = {"project": "p", **arguments}
    try:
        answer = await application.call(name, given)
    except ToolError as error:
        answer = application.error_content(error, given)
    Draft202012Validator(tool.output_schema()).validate(json.loads(json.dumps(answer)))
    return answer


async def observe(application: Application) -> str:
    """The id of a measurement that is in the log."""
    event = Measured(
        "facts.measure.http",
        {"project": "p", "url": "http://127.0.0.1:9/"},
        utc_text(application.clock.wall_ns()),
        {"kind": "http", "target": {"host": "127.0.0.1", "port": 9}},
        True,
        None,
    )
    return (await application.log.append("p", "observations", "o", body(event))).id


async def everything(application: Application, observation_id: str, suffix: str = "") -> list[dict[str, Any]]:
    """Answers of all four tools of recall, brief and full, refusals among them."""
    evidence = [
        {"type": "observation", "observation_id": observation_id},
        {"type": "note", "text": "seen"},
    ]
    statement = {"statement": f"It listens{suffix}.", "observed_by": "me", "tags": ["a"], "source": "s"}
    first = await call(
        application, "facts.recall.assert", **statement, evidence=evidence, idempotency_key=f"k{suffix}"
    )
    cited = [{"type": "claim", "claim_id": first["claim_id"]}]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("assert", {**statement, "evidence": evidence, "idempotency_key": f"k{suffix}", "detail": "brief"}),
        ("assert", {"statement": f"So it is{suffix}.", "observed_by": "you", "evidence": cited}),
        ("assert", {**statement, "idempotency_key": f"k{suffix}"}),
        ("assert", {**statement, "evidence": [{"type": "claim", "claim_id": "c_nobody"}]}),
        ("retract", {"claim_id": first["claim_id"], "reason": "wrong", "retracted_by": "you"}),
        ("retract", {"claim_id": first["claim_id"], "reason": "wrong"}),
        ("retract", {"claim_id": "c_nobody", "reason": "wrong"}),
        ("query", {"retracted": "include"}),
        ("query", {"retracted": "include", "detail": "full"}),
        ("query", {"text": "listens", "order": "match", "retracted": "only", "limit": 1}),
        ("query", {"stale": True, "stale_after_seconds": 0}),
        ("query", {"stale": False, "target": "127.0.0.1:9", "retracted": "include"}),
        ("query", {"text": '"unfinished'}),
        ("query", {"asserted_after": "yesterday"}),
        ("history", {"claim_id": first["claim_id"]}),
        ("history", {"claim_id": "c_nobody"}),
    ]
    return [first, *[await call(application, f"facts.recall.{name}", **given) for name, given in asked]]


def schemas(application: Application) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every published schema, with the name of its tool and its side."""
    for name, tool in application.tools.items():
        yield f"{name} in", tool.input_schema()
        yield f"{name} out", tool.output_schema()


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything within a JSON value, with its place."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from parts(part, f"{path}/{name}")


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every field at any depth, with its place; a field may itself be called `properties`."""
    for path, part in parts(schema):
        if (
            isinstance(part, dict)
            and isinstance(part.get("properties"), dict)
            and not path.endswith("/properties")
        ):
            yield from ((f"{path}/{name}", field) for name, field in part["properties"].items())


def is_described(field: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Here, or where the type that it refers to is defined."""
    if field.get("description"):
        return True
    alternatives = [field, *field.get("anyOf", ())]
    names = [each["$ref"].rpartition("/")[2] for each in alternatives if "$ref" in each]
    return bool(names) and all(definitions[name].get("description") for name in names)


def chosen_names(schema: dict[str, Any]) -> set[str]:
    """The names of all fields and types of a schema, and every name that one requires."""
    names: set[str] = set()
    for _path, part in parts(schema):
        if isinstance(part, dict):
            names.update(name for keyword in KEYWORDS_OF_NAMES for name in part.get(keyword, ()))
            required = part.get("required", ())
            names.update(required if isinstance(required, list) else ())
    return {name.lower() for name in names}


def keys(value: Any) -> set[str]:
    """Every key of an answer, at any depth."""
    return {name for _path, part in parts(value) if isinstance(part, dict) for name in part}


def ages(value: Any) -> list[float]:
    """Every age of an answer, at any depth."""
    found = [
        part["age_seconds"]
        for _path, part in parts(value)
        if isinstance(part, dict) and "age_seconds" in part
    ]
    return [age for age in found if age is not None]


def files(directory: Path) -> dict[str, bytes]:
    """The content of every file below a directory, by its path."""
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def refusing(name: str) -> Callable[..., Any]:
    def refuse(*_arguments: Any, **_options: Any) -> Any:
        raise AssertionError(f"recall reached for {name}")

    return refuse


def without_sockets(monkeypatch: pytest.MonkeyPatch, loop: asyncio.AbstractEventLoop) -> None:
    """From now on nothing of this process gets at a socket that is not there yet, or at a name."""
    for name in (
        "create_connection",
        "create_server",
        "getaddrinfo",
        "gethostbyname",
        "socketpair",
        "fromfd",
    ):
        monkeypatch.setattr(socket, name, refusing(name))
    monkeypatch.setattr(socket.socket, "__init__", refusing("a socket"))
    for name in (
        *("create_connection", "create_server", "create_datagram_endpoint", "create_unix_connection"),
        *("create_unix_server", "getaddrinfo", "sock_connect", "sock_sendto", "start_tls"),
    ):
        monkeypatch.setattr(loop, name, refusing(name))


def test_every_field_of_every_schema_says_what_it_is(application: Application) -> None:
    silent = [
        f"{name}: {path}"
        for name, schema in schemas(application)
        for path, field in fields(schema)
        if not is_described(field, schema.get("$defs", {}))
    ]

    assert silent == []


def test_every_tool_has_a_title_and_says_in_a_sentence_what_it_does(application: Application) -> None:
    told = {name: (tool.title, tool.description) for name, tool in application.tools.items()}

    assert all(title and description.endswith(".") for title, description in told.values())
    assert len({title for title, _description in told.values()}) == len(told)


def test_the_fields_of_every_schema_are_looked_at(application: Application) -> None:
    counted = {name: sum(1 for _ in fields(schema)) for name, schema in schemas(application)}

    assert min(counted.values()) >= 2
    assert counted["facts.recall.query out"] > 50
    assert counted["facts.measure.http out"] > 90


def test_no_field_of_any_answer_is_a_judgement(application: Application) -> None:
    found = {
        name: sorted(chosen_names(schema) & JUDGEMENTS)
        for name, schema in schemas(application)
        if name.endswith(" out") and chosen_names(schema) & JUDGEMENTS
    }

    assert found == {}


def test_no_key_that_recall_answers_is_a_judgement(application: Application) -> None:
    async def go() -> list[dict[str, Any]]:
        return await everything(application, await observe(application))

    assert set().union(*map(keys, asyncio.run(go()))) & JUDGEMENTS == set()


def test_recall_opens_no_socket_and_works_where_everything_is_denied(
    denied: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> list[dict[str, Any]]:
        observation_id = await observe(denied)
        with monkeypatch.context() as forbidden:
            without_sockets(forbidden, asyncio.get_running_loop())
            return await everything(denied, observation_id)

    answers = asyncio.run(go())

    assert [answer.get("code") for answer in answers] == [
        *[None, None, None, "conflict", "not_found"],
        *[None, "conflict", "not_found"],
        *[None, None, None, None, None, "invalid_arguments", "invalid_arguments"],
        *[None, "not_found"],
    ]
    assert [part for part in ("laboratory", "dialer", "network") if part in vars(denied)] == []


def test_a_socket_would_be_noticed(denied: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        with monkeypatch.context() as forbidden:
            without_sockets(forbidden, asyncio.get_running_loop())
            for reach in (
                socket.socket,
                lambda: socket.create_connection(("127.0.0.1", 9)),
                lambda: asyncio.get_running_loop().getaddrinfo("localhost", 9),
            ):
                with pytest.raises(AssertionError, match="recall reached for"):
                    reach()

    asyncio.run(go())


def test_what_rests_on_a_measurement_says_how_to_take_it_again(
    application: Application, byte_server: Any
) -> None:
    answer = b"HTTP/1.1 204 No Content\r\n\r\n"
    server = byte_server([["read", answer, "eof"]])

    async def go() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        first = await call(application, "facts.measure.http", url=f"{server.url}?a=1", headers={"X-A": "b"})
        evidence = [{"type": "observation", "observation_id": first["observation_id"]}]
        asserted = {"statement": "It answers.", "observed_by": "me", "evidence": evidence}
        await call(application, "facts.recall.assert", **asserted)
        (claim,) = (await call(application, "facts.recall.query"))["claims"]
        again = claim["remeasure_with"]
        names = {advertised: name for name, advertised in application.names.items()}
        return first, again, await call(application, names[again["tool"]], **again["arguments"])

    first, again, second = asyncio.run(go())

    assert again["omitted"] == []
    assert second["data"]["http_status"] == first["data"]["http_status"] == 204
    request, repeated = server.requests
    assert repeated == request


@pytest.mark.parametrize("wall", [-50 * 365 * 86_400, -3600, -1, 0, 1, 3600, 50 * 365 * 86_400])
@pytest.mark.parametrize("boot", [-3600, 0, 3600])
def test_a_clock_that_jumps_never_makes_a_negative_age(
    application: Application, byte_server: Any, monkeypatch: pytest.MonkeyPatch, wall: int, boot: int
) -> None:
    server = byte_server([["read", b"HTTP/1.1 204 No Content\r\n\r\n", "eof"]])
    clock = SteeredClock()
    monkeypatch.setattr(application, "clock", clock)

    async def go() -> list[dict[str, Any]]:
        measured = await call(application, "facts.measure.http", url=server.url)
        before = await everything(application, await observe(application), " at first")
        clock.wall += wall * SECOND
        clock.boot += boot * SECOND
        after = await everything(application, measured["observation_id"], " later")
        clock.wall -= wall * SECOND
        clock.boot -= boot * SECOND
        return [measured, *before, *after, await call(application, "facts.recall.query", retracted="include")]

    told = ages(asyncio.run(go()))

    assert len(told) > 40
    assert min(told) >= 0


def test_a_retraction_leaves_every_earlier_byte_as_it_was(application: Application, tmp_path: Path) -> None:
    logs = tmp_path / "data/projects/p/logs"

    async def go() -> tuple[dict[str, bytes], dict[str, bytes]]:
        await everything(application, await observe(application))
        claim = await call(application, "facts.recall.assert", statement="another", observed_by="me")
        before = files(logs)
        await call(application, "facts.recall.retract", claim_id=claim["claim_id"], reason="wrong")
        return before, files(logs)

    before, after = asyncio.run(go())

    changed = [Path(name).name for name, content in after.items() if content != before.get(name)]
    assert all(after[name].startswith(content) for name, content in before.items())
    assert changed == ["claims.jsonl"]


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_in_an_argument_of_recall_reaches_a_file_an_answer_or_the_log(
    application: Application, tmp_path: Path, capfd: pytest.CaptureFixture[str], secret: str
) -> None:
    async def go() -> list[dict[str, Any]]:
        claim_id = (await call(application, "facts.recall.assert", statement="a", observed_by="me"))[
            "claim_id"
        ]
        said = {"statement": secret, "observed_by": secret, "source": secret, "idempotency_key": secret}
        evidence = [{"type": "note", "text": secret}, {"type": "note", "text": f"{secret} " * 40}]
        asked: list[tuple[str, dict[str, Any]]] = [
            ("assert", {**said, "tags": [secret, "a"], "evidence": evidence}),
            ("assert", {**said, "statement": f"another {secret}"}),
            ("assert", {**said, "evidence": [{"type": "claim", "claim_id": secret[:64]}]}),
            ("assert", {**said, "evidence": [{"type": "observation", "observation_id": secret[:64]}]}),
            ("assert", {**said, "evidence": [{"type": secret}]}),
            ("assert", {**said, secret: secret}),
            ("retract", {"claim_id": claim_id, "reason": secret, "retracted_by": secret}),
            ("retract", {"claim_id": claim_id, "reason": secret}),
            ("retract", {"claim_id": secret[:64], "reason": secret}),
            ("query", {"text": secret.replace('"', " ")}),
            ("query", {"text": secret}),
            ("query", {"tags": [secret], "any_tags": ["a"], "observed_by": secret, "detail": "full"}),
            ("query", {"target": secret}),
            ("query", {"asserted_after": secret[:64], "asserted_before": secret[:64]}),
            ("query", {"order": secret}),
            ("query", {"cursor": secret}),
            ("query", {"retracted": "include", "detail": "full", "limit": 1}),
            ("history", {"claim_id": secret[:64]}),
            ("history", {"claim_id": claim_id}),
        ]
        return [await call(application, f"facts.recall.{name}", **given) for name, given in asked]

    answers = asyncio.run(go())
    application.close()
    application.journal.drain()

    seen = {
        **files(tmp_path / "data"),
        "answers": json.dumps(answers).encode(),
        "log": "".join(capfd.readouterr()).encode(),
    }
    assert [name for name, content in seen.items() if CANARY.encode() in content] == []
    assert b"[redacted:" in seen["answers"]
    assert answers[11]["matched"] == 1


def test_no_application_is_named_in_the_code() -> None:
    named = []
    for path in sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "policy").rglob("*.py")]):
        if OF_SECRETS in path.parents:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for found in PRODUCTS.finditer(line):
                allowed = NAMED_ON_PURPOSE.get(found[0].lower())
                if allowed is None or not allowed.search(line):
                    named.append(f"{path.relative_to(ROOT)}:{number}: {found[0]}")

    assert named == []
