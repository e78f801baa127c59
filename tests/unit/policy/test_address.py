"""The class of an address: the whole matrix, on every Python there is, and what transition addresses carry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Any

import pytest

from policy.address import address_text, classify, classify_text, embedded_ipv4, parse_address
from policy.errors import TargetError
from policy.table import MARKS

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MATRIX: list[dict[str, Any]] = json.loads((HERE / "address_matrix.json").read_text(encoding="utf-8"))


def pythons() -> list[str]:
    """Every interpreter from 3.11 on that this machine has, this one first."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    found = [sys.executable, *filter(None, map(shutil.which, names))]
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True).stdout.strip()
        found += [str(path) for path in sorted(Path(root).glob("versions/3.*/bin/python"))]
    works = "import sys; sys.exit(sys.version_info < (3, 11))"
    # A shim of a version that is not chosen exists but does not run.
    return [
        each for each in found if subprocess.run([each, "-c", works], capture_output=True).returncode == 0
    ]


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row['address']} is {row['name']} ({row['why']})")
def test_an_address_has_the_class_of_the_design_table(row: dict[str, Any]) -> None:
    place = classify_text(row["address"])

    assert (place.name, place.columns, place.never) == (row["name"], row["columns"], row["never"])
    assert (place.name in MARKS) == row["marked"]


@pytest.mark.parametrize("python", sorted(set(pythons())))
def test_the_matrix_holds_on_a_bare_interpreter(python: str) -> None:
    script = [str(HERE / "check_address_matrix.py"), str(ROOT), str(HERE / "address_matrix.json")]

    done = subprocess.run([python, "-ISB", *script], capture_output=True, text=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, "matrix holds\n", "")


CARRIED = {
    "NAT64 to the metadata service": ("64:ff9b::a9fe:a9fe", "nat64", "metadata via NAT64", "169.254.169.254"),
    "NAT64 to loopback": ("64:ff9b::7f00:1", "nat64", "loopback via NAT64", "127.0.0.1"),
    "NAT64 to a public address": ("64:ff9b::808:808", "nat64", "public via NAT64", "8.8.8.8"),
    "NAT64 of local use": ("64:ff9b:1::7f00:1", "nat64", "loopback via NAT64", "127.0.0.1"),
    "6to4": ("2002:7f00:1::", "6to4", "6to4 carrying 127.0.0.1 (loopback)", "127.0.0.1"),
    "6to4 to metadata": (
        "2002:a9fe:a9fe::",
        "6to4",
        "6to4 carrying 169.254.169.254 (metadata)",
        "169.254.169.254",
    ),
    "Teredo, inverted bits": (
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "teredo",
        "Teredo carrying 127.0.0.1 (loopback)",
        "127.0.0.1",
    ),
    "Teredo to metadata": (
        "2001:0:4136:e378:8000:63bf:5601:5601",
        "teredo",
        "Teredo carrying 169.254.169.254 (metadata)",
        "169.254.169.254",
    ),
    "ISATAP": (
        "2606:4700::5efe:7f00:1",
        "isatap",
        "ISATAP carrying 127.0.0.1 (loopback)",
        "127.0.0.1",
    ),
    "ISATAP of a global IPv4 to metadata": (
        "2606:4700::200:5efe:a9fe:a9fe",
        "isatap",
        "ISATAP carrying 169.254.169.254 (metadata)",
        "169.254.169.254",
    ),
    "IPv4-compatible": (
        "::7f00:1",
        "ipv4-compatible",
        "IPv4-compatible carrying 127.0.0.1 (loopback)",
        "127.0.0.1",
    ),
    "IPv4-translated": (
        "::ffff:0:127.0.0.1",
        "ipv4-translated",
        "IPv4-translated carrying 127.0.0.1 (loopback)",
        "127.0.0.1",
    ),
}


@pytest.mark.parametrize("row", CARRIED.values(), ids=CARRIED)
def test_a_transition_address_names_what_it_carries(row: tuple[str, str, str, str]) -> None:
    text, name, label, inner = row

    place = classify_text(text)

    assert (place.name, place.label, place.columns) == (name, label, "")
    assert place.inner == (IPv4Address(inner), classify_text(inner).name)
    assert place.effective == IPv6Address(text)


@pytest.mark.parametrize(
    "text", ["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:127.0.0.1", "::FFFF:7F00:0001", "127.0.0.1"]
)
def test_a_mapped_address_is_the_ipv4_that_a_socket_would_reach(text: str) -> None:
    assert classify_text(text) == classify(IPv4Address("127.0.0.1"))
    assert classify_text(text).effective == IPv4Address("127.0.0.1")


@pytest.mark.parametrize(
    "text", ["fe80::1%eth0", "febf::1%25eth0", "::1%lo", "::ffff:169.254.169.254%eth0", "fe80::1%", "::1%%"]
)
def test_a_zone_id_is_a_class_of_its_own_that_nothing_admits(text: str) -> None:
    place = classify_text(text)

    assert (place.name, place.effective, place.columns, place.never) == ("zone-id", None, "", True)


def test_an_address_object_with_a_scope_is_a_zone_id() -> None:
    assert classify(IPv6Address("::1%1")).name == "zone-id"


UNREADABLE = [
    "",
    "%",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.256",
    "256.1.1.1",
    "0x7f.0.0.1",
    "127.1",
    "2130706433",
]
UNREADABLE += [
    "１.2.3.4",
    "1.2.3.4 ",
    " ::1",
    "::1/128",
    "[::1]",
    ":",
    ":::",
    "::g",
    "::ffff:0x7f.1",
    "::٠",
    "a" * 1_048_576,
]
UNREADABLE += [
    "1:2:3:4:5:6:7:8:9",
    "::ffff:01.2.3.4",
    "::ffff:1.2.3",
    "\ud800",
    "127.0.0.1\0",
    "::1\0",
    "eth0%",
    "127.0.0.1%lo",
]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: ascii(text)[:40])
def test_a_text_that_is_no_address_is_unclassifiable_and_not_dropped(text: str) -> None:
    place = classify_text(text)

    assert place.name in {"unclassifiable", "zone-id"}
    assert (place.effective, place.columns, place.never) == (None, "", True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("::1%lo", "zone_id"),
        ("fe80::1%", "zone_id"),
        ("127.1", "bad_input"),
        ("eth0%", "bad_input"),
        ("::g", "bad_input"),
    ],
)
def test_a_text_that_is_no_address_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(TargetError) as refusal:
        parse_address(text)

    assert refusal.value.reason_code == reason


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("::ffff:127.0.0.1", "::ffff:7f00:1"),
        ("::FFFF:0:0", "::ffff:0:0"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("::ffff:0:1.2.3.4", "::ffff:0:102:304"),
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:1.2.3.4%x", str(IPv6Address("::ffff:1.2.3.4%x"))),
    ],
)
def test_an_address_is_spelt_the_same_by_every_python(text: str, spelt: str) -> None:
    assert address_text(ip_address(text)) == spelt


@pytest.mark.parametrize(
    ("address", "length"),
    [
        ("2001:db8:c000:221::", 32),
        ("2001:db8:1c0:2:21::", 40),
        ("2001:db8:122:c000:2:2100::", 48),
        ("2001:db8:122:3c0:0:221::", 56),
        ("2001:db8:122:344:c0:2:2100::", 64),
        ("2001:db8:122:344::192.0.2.33", 96),
    ],
)
def test_the_examples_of_rfc_6052_decode_at_every_length(address: str, length: int) -> None:
    assert embedded_ipv4(IPv6Address(address), length) == IPv4Address("192.0.2.33")


VOUCHED = {
    "a public address behind the well-known prefix": (
        "64:ff9b::/96",
        "64:ff9b::808:808",
        "NI",
        ("public",),
        False,
    ),
    "a private one": ("64:ff9b::/96", "64:ff9b::a01:203", "PI", ("private",), False),
    "the loopback of the translator is not ours": (
        "64:ff9b::/96",
        "64:ff9b::7f00:1",
        "",
        ("loopback",),
        False,
    ),
    "metadata stays never": ("64:ff9b::/96", "64:ff9b::a9fe:a9fe", "", ("metadata",), True),
    "a prefix in private space passes where private passes": (
        "fd64::/96",
        "fd64::a01:203",
        "PI",
        ("private", "private"),
        False,
    ),
    "a private wrapper narrows a public address": (
        "fd64::/96",
        "fd64::808:808",
        "I",
        ("private", "public"),
        False,
    ),
    "a prefix in public space": ("2606:64::/96", "2606:64::808:808", "NI", ("public", "public"), False),
    "a prefix in public space does not make a private address public": (
        "2606:64::/96",
        "2606:64::a01:203",
        "I",
        ("public", "private"),
        False,
    ),
}


@pytest.mark.parametrize("row", VOUCHED.values(), ids=VOUCHED)
def test_behind_a_nat64_prefix_of_the_setting_wrapper_and_inner_both_count(
    row: tuple[str, str, str, tuple[str, ...], bool],
) -> None:
    prefix, text, columns, marked_as, never = row

    place = classify_text(text, [IPv6Network(prefix)])

    assert (place.name, place.columns, place.marked_as, place.never) == ("nat64", columns, marked_as, never)
    assert place.effective == IPv6Address(text)


def test_a_nat64_prefix_does_not_change_other_addresses() -> None:
    prefixes = [IPv6Network("64:ff9b::/96")]

    assert [classify_text(row["address"], prefixes) for row in MATRIX if row["name"] != "nat64"] == [
        classify_text(row["address"]) for row in MATRIX if row["name"] != "nat64"
    ]
