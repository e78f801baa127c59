"""The table itself: total, without doubles, and independent of what Python thinks of an address."""

from __future__ import annotations

import ast
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from typing import get_args

import pytest

import policy
from policy.decision import Rule
from policy.egress import FORBIDDEN_HEADERS
from policy.errors import ReasonCode
from policy.rules import PROFILES
from policy.table import ISATAP, MARKS, ROWS, Row, row_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "policy.md"
SOURCES = sorted(Path(policy.__file__).parent.glob("*.py"))


def test_no_range_stands_twice_and_each_is_written_as_a_network() -> None:
    networks = [ip_network(row.range) for row in ROWS]

    assert len(set(networks)) == len(ROWS)


def test_what_is_never_reached_has_no_column() -> None:
    assert [row for row in ROWS if row.never and (row.columns or row.marked)] == []


def test_the_marks_are_the_three_classes_that_a_name_can_be_allowed_to_reach() -> None:
    assert sorted(MARKS) == ["loopback", "private", "shared"]


@pytest.mark.parametrize("value", [0, 1, 2**32 - 1, 2**31, 2**24])
def test_every_ipv4_address_has_a_row(value: int) -> None:
    assert ip_network(row_of(IPv4Address(value)).range).version == 4


@pytest.mark.parametrize("value", [0, 2**128 - 1, 2**127, 2**125, 2**120])
def test_every_ipv6_address_has_a_row(value: int) -> None:
    assert ip_network(row_of(IPv6Address(value)).range).version == 6


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_no_flag_of_ipaddress_is_asked(source: Path) -> None:
    flags = {"is_private", "is_global", "is_loopback", "is_link_local", "is_reserved", "is_multicast"}
    flags |= {"is_unspecified", "is_site_local", "ipv4_mapped", "sixtofour", "teredo"}

    asked = {node.attr for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Attribute)}

    assert asked & flags == set()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_policy_imports_nothing_of_the_product(source: Path) -> None:
    nodes = ast.walk(ast.parse(source.read_text()))

    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}

    assert {name for name in imported if name is not None and name.partition(".")[0] == "app"} == set()


def documented(row: Row) -> str:
    """The line of the documentation for a row of the table."""
    loopback, private = ("yes" if column in row.columns else "no" for column in "LP")
    by_name = "yes" if "N" in row.columns else f"`@{row.name}`" if row.marked else "no"
    by_address = "yes" if "I" in row.columns else "never" if row.never else "no"
    facts = (f"`{row.range}`", row.name, loopback, private, by_name, by_address, row.title)
    return f"| {' | '.join(facts)} |"


def test_the_documentation_has_the_table_line_by_line() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()

    rows = [*ROWS, ISATAP]
    assert lines[-len(rows) :] == [documented(row) for row in rows]


def test_the_documentation_names_every_rule_reason_and_header() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    names = [*get_args(Rule), *get_args(ReasonCode), *PROFILES]
    assert [name for name in names if f"`{name}`" not in text] == []
    assert [header for header in FORBIDDEN_HEADERS if f"`{header}`" not in text.lower()] == []
