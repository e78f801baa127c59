"""The settings: what parses, what stops the start, and the page that is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import StartError
from app.settings import Settings, configuration_page, read_settings

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields.values():
        monkeypatch.delenv(str(name.validation_alias), raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")


def test_without_any_variable_the_defaults_hold() -> None:
    settings = read_settings()

    assert settings.data_dir == "/home/somebody/.plinth"
    assert settings.net_profile == "loopback"
    assert settings.http_methods == {"GET", "HEAD", "OPTIONS"}
    assert (settings.rate_target, settings.rate_total, settings.max_in_flight) == ((60, 20), (600, 60), 8)
    assert settings.toolsets == ("measure", "recall")


@pytest.mark.parametrize(
    ("name", "value", "field", "parsed"),
    [
        ("PLINTH_FACTS_RATE_TARGET", "0", "rate_target", None),
        ("PLINTH_FACTS_RATE_TOTAL", "0/5", "rate_total", None),
        ("PLINTH_FACTS_RATE_TARGET", "90/30", "rate_target", (90, 30)),
        ("PLINTH_FACTS_TOOLSETS", "all", "toolsets", ("measure", "recall", "memory", "query")),
        ("PLINTH_FACTS_TOOLSETS", "recall, measure", "toolsets", ("measure", "recall")),
        ("PLINTH_FACTS_HTTP_METHODS", "GET,POST", "http_methods", frozenset({"GET", "POST"})),
        ("PLINTH_FACTS_RESOLVERS", "127.0.0.53,::1", "resolvers", ("127.0.0.53", "::1")),
        ("PLINTH_FACTS_MAX_REDIRECTS", "0", "max_redirects", 0),
        ("PLINTH_DATA_DIR", "/srv//facts/", "data_dir", "/srv/facts"),
        ("PLINTH_FACTS_ROTATE_BYTES", "1048576", "rotate_bytes", 1_048_576),
        ("PLINTH_FACTS_ROTATE_BYTES", "0", "rotate_bytes", 0),
        ("PLINTH_FACTS_TEXT_INDEX", "trigram", "text_index", "trigram"),
        ("PLINTH_FACTS_HOSTS", "a, b:1", "hosts", ("a", "b:1")),
    ],
)
def test_a_well_formed_value_is_parsed_once(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, parsed: object
) -> None:
    monkeypatch.setenv(name, value)

    assert getattr(read_settings(), field) == parsed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLINTH_FACTS_NET_PROFILE", "public"),
        ("PLINTH_FACTS_NET_PROFILE", ""),
        ("PLINTH_FACTS_MAX_REDIRECTS", "21"),
        ("PLINTH_FACTS_MAX_REDIRECTS", "-1"),
        ("PLINTH_FACTS_MAX_REDIRECTS", "1.048576e+06"),
        ("PLINTH_FACTS_MAX_IN_FLIGHT", "1_0"),
        ("PLINTH_FACTS_RATE_TARGET", "60"),
        ("PLINTH_FACTS_RATE_TARGET", "60/0"),
        ("PLINTH_FACTS_TOOLSETS", "measure,measuring"),
        ("PLINTH_FACTS_TOOLSETS", ""),
        ("PLINTH_FACTS_HTTP_METHODS", "get"),
        ("PLINTH_FACTS_RESOLVERS", "dns.example"),
        ("PLINTH_FACTS_TRANSPORT", "sse"),
        ("PLINTH_FACTS_TOKEN_FILE", "/nowhere/tokens"),
        ("PLINTH_FACTS_OBSERVED_BY", "token"),
        ("PLINTH_FACTS_TOOL_NAMES", "Dots"),
        ("PLINTH_FACTS_LOG_LEVEL", "trace"),
        ("PLINTH_DATA_DIR", "relative/path"),
        ("PLINTH_FACTS_CA_FILE", "/nowhere/ca.pem"),
        ("PLINTH_FACTS_ROTATE_BYTES", "1000"),
        ("PLINTH_FACTS_ROTATE_BYTES", "-1"),
        ("PLINTH_FACTS_ROTATE_BYTES", "1e9"),
        ("PLINTH_FACTS_SIGNING_KEY_FILE", "/nowhere/key.pem"),
        ("PLINTH_FACTS_TEXT_INDEX", "Words"),
    ],
)
def test_a_malformed_value_stops_the_start_and_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(StartError) as stopped:
        read_settings()

    assert len(stopped.value.lines) == 1
    assert stopped.value.lines[0].startswith(f"{name}: ")


@pytest.mark.parametrize(
    "name",
    ["PLINTH_FACTS_NET_PROFIL", "plinth_facts_net_profile", "PLINTH_FACTS_", "PLINTH_FACTS_MCP_SERVICE_PORT"],
)
def test_an_unknown_name_fails_closed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "private")

    with pytest.raises(StartError, match=name):
        read_settings()


def test_a_setting_of_a_part_that_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_ADMIN_LISTEN", "127.0.0.1:9765")

    with pytest.raises(StartError, match="no admin listener"):
        read_settings()


def test_every_wrong_variable_gets_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_MAX_REDIRECTS", "many")
    monkeypatch.setenv("PLINTH_FACTS_LOG_FORMAT", "xml")
    monkeypatch.setenv("PLINTH_FACTS_PROFILE", "loopback")

    with pytest.raises(StartError) as stopped:
        read_settings()

    assert [line.partition(":")[0] for line in stopped.value.lines] == [
        "PLINTH_FACTS_PROFILE",
        "PLINTH_FACTS_MAX_REDIRECTS",
        "PLINTH_FACTS_LOG_FORMAT",
    ]


def test_a_long_value_is_shown_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "x" * 5000)

    with pytest.raises(StartError) as stopped:
        read_settings()

    assert len(stopped.value.lines[0]) < 300


def test_the_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(Exception, match="frozen"):
        read_settings().net_profile = "private"


def test_the_page_is_the_one_of_the_documents() -> None:
    assert (ROOT / "docs/configuration.md").read_text() == configuration_page()


def test_without_a_home_a_directory_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")

    with pytest.raises(StartError, match="PLINTH_DATA_DIR: HOME is empty"):
        read_settings()


def test_a_malformed_policy_is_told_in_the_same_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_RESOLVERS", "dns.example")
    monkeypatch.setenv("PLINTH_FACTS_NET_PROFILE", "allowlist")
    monkeypatch.setenv("PLINTH_FACTS_ALLOW_HOSTS", "127.0.0.1:,http://a.test:80,b.test:443")

    with pytest.raises(StartError) as stopped:
        read_settings()

    assert len(stopped.value.lines) == 3
    assert "no scheme" in stopped.value.lines[2]


def test_a_policy_that_is_sound_adds_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLINTH_FACTS_RESOLVERS", "dns.example")

    with pytest.raises(StartError) as stopped:
        read_settings()

    assert len(stopped.value.lines) == 1
