"""The documents are complete and current: links resolve, and everything that has a name is named in them."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import policy
from app.errors import AGENT_ACTION, HTTP_STATUS, RETRYABLE, Phase, ProbeErrorCode, StoreReason, ToolErrorCode
from app.measure import kinds
from app.measure.http1.head import DEVIATIONS
from app.settings import Settings, configuration_page
from app.store.checkpoints import FAULTS
from app.store.log import DAMAGES
from app.telemetry import FIELDS
from app.tools.recall import recall_tools
from app.tools.recall_answers import CLAIM
from policy.table import ROWS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PLAIN = [ROOT / "pyproject.toml", *sorted(path for path in (ROOT / ".ci").iterdir() if path.is_file())]
LOCKS = [ROOT / ".ci/requirements.lock", *sorted((ROOT / "tests/clients").glob("*/*lock*"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
MACHINE_PATH = re.compile(r"(?<![\w.$~-])/(?:home|root|Users|tmp)/\w[^\s`]*")
HOST = re.compile(r"\bhttps?://([^\s/:`'\"<>)]+)")
# Hosts that a document may send a reader to, and those of examples.
HOSTS = re.compile(
    r"github\.com|modelcontextprotocol\.io|www\.rfc-editor\.org|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]|[\w…-]+"
    r"|(?:\w+\.)*(?:example|test|internal|local|home\.arpa)|(?:\w+\.)*example\.(?:org|com|net)"
)
EVERYTHING = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
CELL = re.compile(r"(?<=\| )[\w.-]+(?= \|)")
QUOTED = [*re.findall(r"`([^`\n]+)`", EVERYTHING), *FENCE.findall(EVERYTHING), *CELL.findall(EVERYTHING)]
NAMED = set(chain.from_iterable(re.findall(r"[\w.:@-]+", quoted) for quoted in QUOTED))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(path: Path) -> set[str]:
    """What a link may name after `#`: the headings, as a forge makes them into fragments."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path: Path) -> list[str]:
    """Links of a document to files or headings that are not there."""
    broken = []
    for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        file, _, fragment = link.partition("#")
        target = (path.parent / file) if file else path
        if "://" not in link and not (target.exists() and (not fragment or fragment in anchors(target))):
            broken.append(link)
    return broken


RECALL = recall_tools(lambda: pytest.fail("no tool is called"))


def arguments() -> set[str]:
    """The arguments of all tools, as published."""
    params = [*(kind.params for kind in kinds()), *(tool.params for tool in RECALL)]
    return {field.encode_name for each in params for field in msgspec.structs.fields(each)}


def answers() -> set[str]:
    """The names at the top of what the recall tools answer, and of a claim."""
    return {*CLAIM, *(name for tool in RECALL for name in tool.answer["properties"])}


def facts() -> set[str]:
    """The names at the top of the data of all measurements, as published."""
    return {field.encode_name for kind in kinds() for field in msgspec.structs.fields(kind.facts)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_link_of_a_document_resolves(path: Path) -> None:
    assert broken_links(path) == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=name)
def test_every_page_can_be_reached_from_the_readme(page: Path) -> None:
    assert f"({name(page)})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_of_the_settings_is_generated_from_them() -> None:
    assert (ROOT / "docs/configuration.md").read_text(encoding="utf-8") == configuration_page()


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            {str(field.validation_alias) for field in Settings.model_fields.values()}, id="settings"
        ),
        pytest.param({f"facts.measure.{kind.name}" for kind in kinds()}, id="measuring tools"),
        pytest.param({tool.name for tool in RECALL}, id="recall tools"),
        pytest.param(answers(), id="answers of recall"),
        pytest.param(set(FAULTS), id="faults that verify finds"),
        pytest.param(set(DAMAGES), id="reasons of damage"),
        pytest.param(arguments(), id="arguments of the tools"),
        pytest.param(facts(), id="facts of the measurements"),
        pytest.param(set(get_args(ToolErrorCode)), id="codes of a refused call"),
        pytest.param(set(get_args(ProbeErrorCode)), id="codes of a failed target"),
        pytest.param(set(get_args(Phase)), id="phases of a failure"),
        pytest.param(set(DEVIATIONS), id="deviations of a head"),
        pytest.param(set(get_args(StoreReason)), id="reasons of a failed store"),
        pytest.param(set(get_args(policy.ReasonCode)), id="reasons why a text names no target"),
        pytest.param(set(policy.PROFILES), id="profiles"),
        pytest.param({row.name for row in ROWS}, id="address classes"),
    ],
)
def test_everything_that_has_a_name_is_in_the_documents(names: set[str]) -> None:
    assert sorted(names - NAMED) == []


def test_the_page_on_operating_has_the_row_of_each_log_field() -> None:
    rows = "\n".join(f"| `{field}` | {meaning} |" for field, meaning in FIELDS.items())

    assert rows in (ROOT / "docs/operating.md").read_text(encoding="utf-8")


def test_the_page_of_errors_has_the_row_of_each_code() -> None:
    text = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    rows = [
        f"| `{code}` | {status} | {'yes' if code in RETRYABLE else 'no'} | {AGENT_ACTION[code]} |"
        for code, status in HTTP_STATUS.items()
    ]

    assert "\n".join(rows) in text


@pytest.mark.parametrize("path", [*DOCUMENTS, *PLAIN], ids=name)
def test_nothing_written_names_a_path_of_one_machine(path: Path) -> None:
    assert MACHINE_PATH.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [*DOCUMENTS, *PLAIN], ids=name)
def test_every_host_that_is_named_is_a_known_one(path: Path) -> None:
    hosts = HOST.findall(path.read_text(encoding="utf-8"))

    assert [host for host in hosts if not HOSTS.fullmatch(host)] == []


@pytest.mark.parametrize("path", LOCKS, ids=name)
def test_a_lock_names_no_place_that_packages_come_from(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert re.findall(r'"resolved"|index-url|find-links|@ \w+:', text) == []


def test_the_readme_has_a_client_configuration_to_paste() -> None:
    blocks = re.findall(
        r"^```json\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    servers = [json.loads(block)["mcpServers"]["facts"] for block in blocks]

    assert [set(server) - {"args", "env"} for server in servers] == [{"command"}]
    assert all(variable in NAMED for server in servers for variable in server.get("env", {}))


def test_the_readme_has_one_command_to_test_which_is_the_one_that_is_run() -> None:
    pattern = re.search(r"sed -n '(s/.*?p)'\s+README", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    assert pattern is not None
    expression = pattern[1].split("/")[1].replace(r"\(", "(").replace(r"\)", ")")

    assert len(re.findall(expression, (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)) == 1


def test_the_map_of_the_readme_names_every_part_of_the_code() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = {path.name for path in (ROOT / "app").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert sorted(part for part in parts if f"app/{part}/" not in text) == []
